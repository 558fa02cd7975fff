#ifndef CMAINQUEUE_H
#define CMAINQUEUE_H

/// Adds dispatch's main queue to the default main context of GLib, loading GLib if needed. On the
/// main thread. Returns 0, or -1 if GLib is not available.
int cmainqueue_add_to_glib(void);

#endif
