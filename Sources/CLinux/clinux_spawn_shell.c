#include "CLinuxFiles.h"
#include "CLinuxSpawn.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

int clinux_spawn_shell(const char *command, const void *input, size_t size, int output, pid_t *child) {
    int file = clinux_memory_file(input, size);
    if (file < 0) {
        return errno;
    }
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int error = posix_spawn_file_actions_init(&actions);
    if (error != 0) {
        close(file);
        return error;
    }
    error = posix_spawnattr_init(&attributes);
    if (error != 0) {
        posix_spawn_file_actions_destroy(&actions);
        close(file);
        return error;
    }
    // The event loop blocks signals and ignores SIGPIPE. A command that inherited this could not be
    // interrupted, and would not end when its reader ends.
    sigset_t none, defaults;
    sigemptyset(&none);
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    error = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    if (error == 0) {
        error = posix_spawn_file_actions_adddup2(&actions, file, STDIN_FILENO);
    }
    if (error == 0) {
        error = posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    }
    if (error == 0) {
        // `--`: a command that starts with a dash must not be parsed as an option.
        char *const arguments[] = {"sh", "-c", "--", (char *)command, NULL};
        error = posix_spawn(child, "/bin/sh", &actions, &attributes, arguments, environ);
    }
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    close(file);
    return error;
}

int clinux_open_child(pid_t child) {
    return pidfd_open(child, 0);
}

int clinux_child_status(pid_t child) {
    int status = 0;
    pid_t result;
    do {
        result = waitpid(child, &status, WNOHANG);
    } while (result < 0 && errno == EINTR);
    if (result < 0) {
        return -2;
    }
    if (result == 0) {
        return -1;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 256 + WTERMSIG(status);
}

void clinux_wipe(void *bytes, size_t size) {
    explicit_bzero(bytes, size);
}
