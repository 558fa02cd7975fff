#pragma once

#include <stddef.h>

/// Returns the number of arguments of the process, including the program's name.
int clinux_argument_count(void);

/// Returns the path by which the process was started (getauxval(3), AT_EXECFN), absolute or
/// relative, or NULL if the kernel does not provide it.
const char *clinux_executed_path(void);

/// Returns an argument, in the memory of the process's start, or NULL after the last.
const char *clinux_argument(int index);
