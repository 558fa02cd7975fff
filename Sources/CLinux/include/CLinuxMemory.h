// Memory that a program does not need at the moment.
#pragma once

#include <stddef.h>

/// Unmaps the code and constants of the program and its libraries (madvise(2), MADV_DONTNEED) until
/// they are used again. They are identical to their files, which remain in the page cache as long
/// as there is room. Returns the total number of unmapped bytes.
size_t clinux_unmap_programs(void);
