#include "CLinuxSpawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <unistd.h>

static int prepare(posix_spawn_file_actions_t *actions, posix_spawnattr_t *attributes, const char *folder,
                   int input) {
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    sigdelset(&all, SIGKILL);
    sigdelset(&all, SIGSTOP);
    posix_spawnattr_setsigmask(attributes, &none);
    posix_spawnattr_setsigdefault(attributes, &all);
    int error = posix_spawnattr_setflags(
        attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
    if (error == 0) {
        error = posix_spawn_file_actions_addchdir_np(actions, folder);
    }
    for (int fd = STDIN_FILENO; error == 0 && fd <= STDERR_FILENO; fd++) {
        if (input < 0 || fd == STDOUT_FILENO) {
            error = posix_spawn_file_actions_addopen(actions, fd, "/dev/null", O_RDWR, 0);
        } else if (fd == STDIN_FILENO) {
            error = posix_spawn_file_actions_adddup2(actions, input, STDIN_FILENO);
        }
    }
    if (error == 0) {
        // Our descriptors are close-on-exec; those of libraries may not be.
        error = posix_spawn_file_actions_addclosefrom_np(actions, STDERR_FILENO + 1);
    }
    return error;
}

int clinux_spawn_detached(const char *program, char *const arguments[], char *const environment[], const char *folder,
                          int input, pid_t *child) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int error = posix_spawn_file_actions_init(&actions);
    if (error != 0) {
        return error;
    }
    error = posix_spawnattr_init(&attributes);
    if (error == 0) {
        error = prepare(&actions, &attributes, folder, input);
        if (error == 0) {
            error = posix_spawn(child, program, &actions, &attributes, arguments, environment);
        }
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return error;
}
