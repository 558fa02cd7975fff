#include "CLinuxFiles.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

int clinux_open_beneath(int folder, const char *path, int flags, unsigned mode) {
    // By number, because the C library has a wrapper only since 2.41.
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

int clinux_file_system_syncs(int fd) {
    struct statfs status;
    if (fstatfs(fd, &status) < 0) {
        return 0;
    }
    switch ((unsigned int)status.f_type) {
    case EXT4_SUPER_MAGIC: // ext2 and ext3, too.
    case XFS_SUPER_MAGIC:
    case BTRFS_SUPER_MAGIC:
    case F2FS_SUPER_MAGIC:
    case TMPFS_MAGIC:
    case OVERLAYFS_SUPER_MAGIC:
        return 1;
    default:
        return 0;
    }
}

int clinux_memory_file(const void *bytes, size_t size) {
    int fd = memfd_create("handoff", MFD_CLOEXEC);
    if (fd < 0) {
        return -1;
    }
    // The file is not executable. A receiver of the descriptor sees this mode.
    fchmod(fd, 0644);
    for (size_t written = 0; written < size;) {
        ssize_t count = write(fd, (const char *)bytes + written, size - written);
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count < 0) {
            int error = errno;
            close(fd);
            errno = error;
            return -1;
        }
        written += (size_t)count;
    }
    lseek(fd, 0, SEEK_SET);
    return fd;
}

void clinux_keep_freed_memory(void) {
    mallopt(M_MMAP_THRESHOLD, 4 << 20);
    mallopt(M_TRIM_THRESHOLD, 8 << 20);
}
