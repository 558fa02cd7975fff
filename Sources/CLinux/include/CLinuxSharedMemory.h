// Memory that two processes share, neither of which trusts the other.
#pragma once

#include <stddef.h>
#include <stdint.h>

/// memfd_create(2) of so many bytes whose size nobody can change any more (F_SEAL_SHRINK, F_SEAL_GROW, F_SEAL_SEAL), close-on-exec.
/// Returns the descriptor or -1 with errno.
int clinux_shared_memory(size_t size);

/// The size of such memory that another process has made: -1 with EINVAL where it is none, could still change its size, which
/// would end a process that reads behind the end, or needs huge pages, of which there may be none. Asks no file system's server.
int64_t clinux_shared_memory_size(int descriptor);

/// mmap(2) for reading and writing, shared. Returns NULL with errno on failure.
void *clinux_map_shared(int descriptor, size_t size);

/// munmap(2).
void clinux_unmap_shared(void *address, size_t size);

/// madvise(2), MADV_REMOVE: gives the pages of shared memory back, which are zero from then on. Whole pages.
void clinux_empty_shared(void *address, size_t size);

/// A number that the other process writes: what it has written before is seen after it (acquire).
static inline uint64_t clinux_load_shared(const void *address) {
    return __atomic_load_n((const uint64_t *)address, __ATOMIC_ACQUIRE);
}

/// A number that the other process reads: it sees what was written before (release).
static inline void clinux_store_shared(void *address, uint64_t value) {
    __atomic_store_n((uint64_t *)address, value, __ATOMIC_RELEASE);
}

/// Sets a word that both processes write, in one order with the other calls of this kind and with `clinux_order_shared`. Returns what it was.
static inline uint32_t clinux_exchange_shared(void *address, uint32_t value) {
    return __atomic_exchange_n((uint32_t *)address, value, __ATOMIC_SEQ_CST);
}

/// Reads a word that both processes write.
static inline uint32_t clinux_load_word_shared(const void *address) {
    return __atomic_load_n((const uint32_t *)address, __ATOMIC_SEQ_CST);
}

/// What was stored before is seen by all before anything is read behind it: of two processes that each set a word and look at that of
/// the other one, at least one sees it.
static inline void clinux_order_shared(void) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
