#include "CLinuxSharedMemory.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

// MFD_NOEXEC_SEAL, since Linux 6.3. Such kernels log a request to set it. Debian 12 does not define
// it yet.
enum { NOT_EXECUTABLE = 8 };

enum { FIXED_SIZE = F_SEAL_SHRINK | F_SEAL_GROW };

int clinux_shared_memory(size_t size) {
    int descriptor = memfd_create("handoff-stream", MFD_CLOEXEC | MFD_ALLOW_SEALING | NOT_EXECUTABLE);
    if (descriptor < 0 && errno == EINVAL) descriptor = memfd_create("handoff-stream", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (descriptor < 0) return -1;
    if (ftruncate(descriptor, (off_t)size) == 0 && fcntl(descriptor, F_ADD_SEALS, FIXED_SIZE | F_SEAL_SEAL) == 0) return descriptor;
    int error = errno;
    close(descriptor);
    errno = error;
    return -1;
}

int64_t clinux_shared_memory_size(int descriptor) {
    // Check the seals first: only memory files have them. For other files, the calls below could
    // query a file system's server.
    int seals = fcntl(descriptor, F_GET_SEALS);
    if (seals < 0) return -1;
    struct statfs system;
    struct stat status;
    if (fstatfs(descriptor, &system) != 0 || fstat(descriptor, &status) != 0) return -1;
    if ((seals & FIXED_SIZE) == FIXED_SIZE && system.f_type == TMPFS_MAGIC && status.st_size > 0) return status.st_size;
    errno = EINVAL;
    return -1;
}

void *clinux_map_shared(int descriptor, size_t size) {
    void *address = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    return address == MAP_FAILED ? NULL : address;
}

void clinux_unmap_shared(void *address, size_t size) { munmap(address, size); }

void clinux_empty_shared(void *address, size_t size) { madvise(address, size, MADV_REMOVE); }
