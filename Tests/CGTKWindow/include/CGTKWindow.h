#ifndef CGTKWINDOW_H
#define CGTKWINDOW_H

/// Runs a GTK 4 application that shows an empty window, until `cgtkwindow_quit`. `shown` is called once the window is there.
/// Returns its exit status, or 77 where there is no GTK 4.
int cgtkwindow_run(const char *identifier, void (*shown)(void));

/// Ends the application. On the main thread.
void cgtkwindow_quit(void);

#endif
