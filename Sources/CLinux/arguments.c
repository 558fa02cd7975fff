#include "CLinuxArguments.h"

#include <sys/auxv.h>

static int argument_count;
static char **argument_vector;

/// Saves the arguments. glibc passes the arguments of main to each constructor. Later they are
/// found only in /proc, which may be missing, or next to the environment, which setenv(3) moves.
__attribute__((constructor)) static void keep_arguments(int count, char **vector) {
    argument_count = count;
    argument_vector = vector;
}

const char *clinux_executed_path(void) {
    return (const char *)getauxval(AT_EXECFN);
}

int clinux_argument_count(void) {
    return argument_count;
}

const char *clinux_argument(int index) {
    return index >= 0 && index < argument_count ? argument_vector[index] : NULL;
}
