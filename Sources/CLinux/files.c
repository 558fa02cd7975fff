#include "CLinuxFiles.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

int clinux_open_beneath(int folder, const char *path, int flags, unsigned mode) {
    // By number: the C library has a function for it only since 2.41.
    struct open_how how = {
        .flags = (unsigned)(flags | O_CLOEXEC),
        .mode = flags & O_CREAT ? mode : 0,
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
    };
    return (int)syscall(SYS_openat2, folder, path, &how, sizeof how);
}

int clinux_rename_new(int folder, const char *old_name, const char *new_name) {
    return renameat2(folder, old_name, folder, new_name, RENAME_NOREPLACE);
}

int clinux_open_nameless(const char *folder, unsigned mode) { return open(folder, O_WRONLY | O_TMPFILE | O_CLOEXEC, mode); }

int clinux_name_file(int fd, const char *path) {
    char link[40];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    return linkat(AT_FDCWD, link, AT_FDCWD, path, AT_SYMLINK_FOLLOW);
}

int clinux_sync_file_system(int fd) { return syncfs(fd); }
