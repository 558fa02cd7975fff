#include "CGTKWindow.h"

#include <dlfcn.h>
#include <stddef.h>

// Loaded at run time, so that a build needs no headers of GTK. Handles are pointers to what these libraries keep private.
static void *library;
static void *application;
static void (*when_shown)(void);

#define FUNCTION(name, result, ...) result (*name)(__VA_ARGS__) = (result (*)(__VA_ARGS__))dlsym(library, #name)

static void activate(void *app, void *data) {
    (void)data;
    FUNCTION(gtk_application_window_new, void *, void *);
    FUNCTION(gtk_window_present, void, void *);
    gtk_window_present(gtk_application_window_new(app));
    when_shown();
}

int cgtkwindow_run(const char *identifier, void (*shown)(void)) {
    library = dlopen("libgtk-4.so.1", RTLD_LAZY | RTLD_GLOBAL);
    if (!library) return 77;
    when_shown = shown;
    FUNCTION(gtk_application_new, void *, const char *, unsigned);
    FUNCTION(g_signal_connect_data, unsigned long, void *, const char *, void (*)(void), void *, void *, unsigned);
    FUNCTION(g_application_run, int, void *, int, char **);
    enum { non_unique = 1 << 5 };
    application = gtk_application_new(identifier, non_unique);
    g_signal_connect_data(application, "activate", (void (*)(void))activate, NULL, NULL, 0);
    return g_application_run(application, 0, NULL);
}

void cgtkwindow_quit(void) {
    FUNCTION(g_application_quit, void, void *);
    g_application_quit(application);
}
