// Starting programs and reading their exit status.
#pragma once

#include <stddef.h>
#include <sys/types.h>

/// Starts `/bin/sh -c COMMAND` (posix_spawn(3)) with `input` as its standard input.
///
/// The input is passed as an anonymous file (memfd_create(2)) that is complete before the command
/// starts. No pipe has to be fed, and a command that does not read its input has no effect on us.
/// The command gets our environment, no blocked signals, the default action for SIGPIPE, `output`
/// as its standard output, and none of our close-on-exec descriptors. The input does not appear in
/// its arguments or environment.
///
/// Returns 0 and sets `*child`, or returns an errno.
int clinux_spawn_shell(const char *command, const void *input, size_t size, int output, pid_t *child);

/// Returns a descriptor that becomes readable when the child exits (pidfd_open(2), close-on-exec),
/// or -1 with errno.
int clinux_open_child(pid_t child);

/// Reaps a child that has exited (waitpid(2)), without blocking. Returns its exit status (0 to
/// 255), 256 plus the number of the signal that ended it, -1 while it runs, or -2 with errno.
int clinux_child_status(pid_t child);

/// explicit_bzero(3): overwrites memory in a way that compilers do not optimise away.
void clinux_wipe(void *bytes, size_t size);

/// Starts a program that outlives this process (posix_spawn(3)): in a separate session, without any
/// of our descriptors, with /dev/null as its standard streams, no blocked signals, and the default
/// action for all. `arguments` and `environment` end with NULL. `folder` is the working directory.
///
/// `input`: -1, or a descriptor for its standard input. With an input, the program acts as a part
/// of this one and keeps our standard error.
///
/// Returns 0 and sets `*child`, or returns an errno.
int clinux_spawn_detached(const char *program, char *const arguments[], char *const environment[], const char *folder,
                          int input, pid_t *child);
