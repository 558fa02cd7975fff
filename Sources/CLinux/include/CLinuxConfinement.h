// Rights that a thread gives up permanently (landlock(7)).
#pragma once

/// Permanently prevents the calling thread, and all threads and processes that it starts later,
/// from creating, writing, renaming or removing files outside a folder, running programs, using
/// TCP, connecting to abstract sockets, and sending signals to other programs. Open files remain
/// usable, and unix sockets with a path can be connected to. Only restrictions that the kernel
/// supports apply: files since Linux 5.13, TCP since 6.7, the rest since 6.12. New privileges
/// (no_new_privs) are always given up.
///
/// `folder` is an open folder whose content may be changed, or -1 for none. Returns the version of
/// the kernel's interface (1 and above), or -1 with errno: ENOSYS or EOPNOTSUPP if it is missing or
/// disabled.
int clinux_confine_writing(int folder);
