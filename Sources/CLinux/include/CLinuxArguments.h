#pragma once

#include <stddef.h>

/// Number of arguments of the process, including the program's name.
int clinux_argument_count(void);

/// The path by which the process was started (getauxval(3), AT_EXECFN), absolute or not; NULL when the kernel does not tell.
const char *clinux_executed_path(void);

/// An argument, in the memory of the process's start; NULL behind the last.
const char *clinux_argument(int index);
