#pragma once

#include <stddef.h>

/// How many arguments the process was started with, the program's name included.
int clinux_argument_count(void);

/// The path by which the process was started (getauxval(3), AT_EXECFN), absolute or not; NULL when the kernel does not tell.
const char *clinux_executed_path(void);

/// An argument, in the memory of the process's start; NULL behind the last.
const char *clinux_argument(int index);
