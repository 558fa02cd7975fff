// System calls about files that Glibc does not show Swift, or has no function for.
#pragma once

#include <stddef.h>

/// openat2(2) with RESOLVE_BENEATH, RESOLVE_NO_SYMLINKS and RESOLVE_NO_MAGICLINKS, close-on-exec: what it opens is in
/// the folder or below it, whatever the path says. Returns the descriptor, or -1 with errno: ENOSYS before Linux 5.6.
int clinux_open_beneath(int folder, const char *path, int flags, unsigned mode);

/// renameat2(2) in one folder with RENAME_NOREPLACE. Returns 0, or -1 with errno: EEXIST when the new name is taken,
/// EINVAL when the file system cannot do it.
int clinux_rename_new(int folder, const char *old_name, const char *new_name);

/// A new file without a name in a folder (open(2) with O_TMPFILE), for writing, close-on-exec: it is gone with its descriptor,
/// unless it is named before. Returns -1 with errno where the file system knows none.
int clinux_open_nameless(const char *folder, unsigned mode);

/// Gives a file without a name one (linkat(2)). Returns 0, or -1 with errno: EEXIST when the name is taken.
int clinux_name_file(int fd, const char *path);

/// syncfs(2): writes everything of the file system of this descriptor to the disk. Returns 0 or -1 with errno.
int clinux_sync_file_system(int fd);

/// 1 where `clinux_sync_file_system` writes all files and returns their errors: on the usual file systems of local disks. On FUSE it does
/// nothing, and network file systems lose errors. 0 there, and for unknown ones.
int clinux_file_system_syncs(int fd);

/// An anonymous file with these bytes (memfd_create(2)), close-on-exec, to be read from its beginning. Returns the descriptor, or -1
/// with errno.
int clinux_memory_file(const void *bytes, size_t size);

/// Has the allocator keep freed blocks up to some MiB (mallopt(3)): else each piece of a content costs the kernel new pages.
void clinux_keep_freed_memory(void);
