// Memory shared by two processes that do not trust each other.
#pragma once

#include <stddef.h>
#include <stdint.h>

/// memfd_create(2) with a size that no process can change afterwards (F_SEAL_SHRINK, F_SEAL_GROW,
/// F_SEAL_SEAL), close-on-exec. Returns the descriptor or -1 with errno.
int clinux_shared_memory(size_t size);

/// Returns the size of such memory that another process has created, or -1 with errno: EINVAL if it
/// is other memory, could still change its size, which would crash a process that reads past the
/// end, or needs huge pages, which may be unavailable. Does not query a file system's server.
int64_t clinux_shared_memory_size(int descriptor);

/// mmap(2) for reading and writing, shared. Returns NULL with errno on failure.
void *clinux_map_shared(int descriptor, size_t size);

/// munmap(2).
void clinux_unmap_shared(void *address, size_t size);

/// madvise(2), MADV_REMOVE: releases pages of shared memory, which are zero afterwards. Whole pages
/// only.
void clinux_empty_shared(void *address, size_t size);

/// Loads a number that the other process writes. What that process wrote before it is visible
/// afterwards (acquire).
static inline uint64_t clinux_load_shared(const void *address) {
    return __atomic_load_n((const uint64_t *)address, __ATOMIC_ACQUIRE);
}

/// Stores a number that the other process reads. It sees what was written before (release).
static inline void clinux_store_shared(void *address, uint64_t value) {
    __atomic_store_n((uint64_t *)address, value, __ATOMIC_RELEASE);
}

/// Sets a word that both processes write, sequentially consistent with the other calls of this kind
/// and with `clinux_order_shared`. Returns the previous value.
static inline uint32_t clinux_exchange_shared(void *address, uint32_t value) {
    return __atomic_exchange_n((uint32_t *)address, value, __ATOMIC_SEQ_CST);
}

/// Loads a word that both processes write.
static inline uint32_t clinux_load_word_shared(const void *address) {
    return __atomic_load_n((const uint32_t *)address, __ATOMIC_SEQ_CST);
}

/// Makes earlier stores visible to all before any later load. If two processes each set a word and
/// then load that of the other, at least one of them sees the other's value.
static inline void clinux_order_shared(void) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
