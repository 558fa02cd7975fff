// Rights that a thread gives up for ever (landlock(7)).
#pragma once

/// Gives up, for the calling thread and all that it starts later: to make, write, rename or remove any file outside of a
/// folder, to run programs, to use TCP, to reach abstract sockets and to send signals to other programs. What is open
/// already stays as it is, and unix sockets that have paths can be connected to. As much of it as the kernel knows:
/// files since Linux 5.13, TCP since 6.7, the rest since 6.12. New privileges (no_new_privs) are given up in any case.
///
/// `folder` is an open folder whose content may be changed, or -1 for none. Returns the version of the kernel's
/// interface (1 and above), or -1 with errno: ENOSYS or EOPNOTSUPP where it is missing or switched off.
int clinux_confine_writing(int folder);
