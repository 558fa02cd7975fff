// Starting a shell command of the user's, and learning how it ended.
#pragma once

#include <stddef.h>
#include <sys/types.h>

/// Starts `/bin/sh -c COMMAND` (posix_spawn(3)) with `input` as its standard input.
///
/// The input is handed over as an anonymous file (memfd_create(2)) that is complete before the command starts: no pipe
/// has to be fed, and a command that does not read its input disturbs nobody. The command gets our environment, no
/// blocked signals, the default action for SIGPIPE, `output` as its standard output, and none of our descriptors that
/// are close-on-exec. Nothing of the input is in its arguments or environment.
///
/// Returns 0 and sets `*child`, or an errno.
int clinux_spawn_shell(const char *command, const void *input, size_t size, int output, pid_t *child);

/// A descriptor that becomes readable when the child ends (pidfd_open(2), close-on-exec), or -1 with errno.
int clinux_open_child(pid_t child);

/// Takes the status of a child that has ended (waitpid(2)), without waiting: its exit status (0 to 255), 256 plus the
/// number of the signal that ended it, -1 while it runs, or -2 with errno.
int clinux_child_status(pid_t child);

/// explicit_bzero(3): overwrites memory in a way that no compiler removes.
void clinux_wipe(void *bytes, size_t size);

/// Starts a program that is to outlive us (posix_spawn(3)): in a session of its own, without any of our descriptors, with
/// /dev/null in the place of the standard ones, no blocked signals, and the default action for all. `arguments` and
/// `environment` end with NULL; `folder` is where it begins.
///
/// `input`: -1, or a descriptor that it gets as its standard input; it is a part of ours then, and keeps our standard error.
///
/// Returns 0 and sets `*child`, or an errno.
int clinux_spawn_detached(const char *program, char *const arguments[], char *const environment[], const char *folder,
                          int input, pid_t *child);
