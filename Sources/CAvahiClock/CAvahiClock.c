// The clock that Avahi's libraries use for their timers. The dynamic linker searches the program
// first, so the libraries call this function instead of the C library's.
//
// The wall clock is unsuitable for timers. After it is set back, timers would be late by the same
// amount. Before 1970, timers that are due immediately, whose time is 0, would never fire and cause
// a busy loop. This clock counts from the start of the machine, including sleep, and cannot be set.
// The libraries do not send its time to other hosts, and nothing else in the daemon calls this
// function.
#include "CAvahiClock.h"
#include <sys/time.h>
#include <time.h>

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    (void)zone;
    struct timespec since_start = {0};
    clock_gettime(CLOCK_BOOTTIME, &since_start);
    // Avahi treats 0 as no time.
    now->tv_sec = since_start.tv_sec + 1;
    now->tv_usec = since_start.tv_nsec / 1000;
    return 0;
}
