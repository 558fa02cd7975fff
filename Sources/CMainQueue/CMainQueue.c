#include "CMainQueue.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

// Declared by libdispatch for other run loops; CFRunLoop also uses them.
int _dispatch_get_main_queue_handle_4CF(void);
void _dispatch_main_queue_callback_4CF(void *message);

// Declared by GLib: g_unix_fd_add_full() and its types. Repeated here so that no build needs its
// headers.
typedef int unix_fd_source(int descriptor, unsigned condition, void *data);
typedef unsigned unix_fd_add_full(int priority, int descriptor, unsigned condition, unix_fd_source *function, void *data, void (*notify)(void *));
enum { glib_priority_default = 0, glib_io_in = 1, glib_source_continue = 1 };

static int run_main_queue(int descriptor, unsigned condition, void *data) {
    (void)condition, (void)data;
    uint64_t count;
    // Read before the queue runs, so that work added during the run wakes the loop again. The
    // descriptor does not block.
    if (read(descriptor, &count, sizeof count) < 0) { /* Another run loop has read it. */ }
    _dispatch_main_queue_callback_4CF(NULL);
    return glib_source_continue;
}

int cmainqueue_add_to_glib(void) {
    void *library = dlopen("libglib-2.0.so.0", RTLD_LAZY);
    unix_fd_add_full *add = library ? (unix_fd_add_full *)dlsym(library, "g_unix_fd_add_full") : NULL;
    if (!add) return -1;
    add(glib_priority_default, _dispatch_get_main_queue_handle_4CF(), glib_io_in, run_main_queue, NULL, NULL);
    return 0;
}
