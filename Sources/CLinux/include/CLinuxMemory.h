// Memory that a program has, and does not need at the moment.
#pragma once

#include <stddef.h>

/// Unmaps the code and constants of the program and its libraries (madvise(2), MADV_DONTNEED) until they are used again: they are the
/// same as in their files, which the kernel goes on to cache for as long as there is room. Returns how many bytes they are in all.
size_t clinux_forget_programs(void);
