#ifndef CMAINQUEUE_H
#define CMAINQUEUE_H

/// Adds dispatch's main queue to the default main context of GLib, which the process has loaded. On the main thread.
/// Returns 0, or -1 where there is no GLib.
int cmainqueue_add_to_glib(void);

#endif
