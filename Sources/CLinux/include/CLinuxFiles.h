// System calls for files that Swift's Glibc module does not export, or for which the C library has
// no function.
#pragma once

#include <stddef.h>

/// openat2(2) with RESOLVE_BENEATH, RESOLVE_NO_SYMLINKS and RESOLVE_NO_MAGICLINKS, close-on-exec.
/// The opened file is always in or below the folder, whatever the path is. Returns the descriptor,
/// or -1 with errno: ENOSYS before Linux 5.6.
int clinux_open_beneath(int folder, const char *path, int flags, unsigned mode);

/// renameat2(2) within one folder with RENAME_NOREPLACE. Returns 0, or -1 with errno: EEXIST if the
/// new name exists, EINVAL if the file system does not support it.
int clinux_rename_new(int folder, const char *old_name, const char *new_name);

/// Creates an unnamed file in a folder (open(2) with O_TMPFILE), for writing, close-on-exec. It is
/// removed when its descriptor is closed, unless it is named before. Returns -1 with errno if the
/// file system does not support it.
int clinux_open_nameless(const char *folder, unsigned mode);

/// Gives an unnamed file a name (linkat(2)). Returns 0, or -1 with errno: EEXIST if the name
/// exists.
int clinux_name_file(int fd, const char *path);

/// syncfs(2): writes the file system of this descriptor to disk. Returns 0 or -1 with errno.
int clinux_sync_file_system(int fd);

/// Returns 1 if `clinux_sync_file_system` writes all files and returns their errors, as on the
/// common local file systems. On FUSE it does nothing, and network file systems lose errors.
/// Returns 0 for these and for unknown file systems.
int clinux_file_system_syncs(int fd);

/// Creates an anonymous file with these bytes (memfd_create(2)), close-on-exec, positioned at its
/// start. Returns the descriptor, or -1 with errno.
int clinux_memory_file(const void *bytes, size_t size);

/// Makes the allocator keep freed blocks of up to some MiB (mallopt(3)). Otherwise each piece of a
/// content requires new pages from the kernel.
void clinux_keep_freed_memory(void);
