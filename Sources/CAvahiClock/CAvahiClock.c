// The time by which Avahi's libraries run their timers. They look functions up in the program first, so they find this one instead
// of the C library's.
//
// The wall clock does not suit timers. After a step back they would not fire for as long, and before 1970 those that are due
// immediately, whose time is 0, would never fire and be waited for without a pause. This clock counts from the start of the machine,
// sleep included, and cannot be set. The libraries send no time to anyone, and nothing else in the daemon calls this function.
#include "CAvahiClock.h"
#include <sys/time.h>
#include <time.h>

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    (void)zone;
    struct timespec since_start = {0};
    clock_gettime(CLOCK_BOOTTIME, &since_start);
    // 0 would be no time for Avahi.
    now->tv_sec = since_start.tv_sec + 1;
    now->tv_usec = since_start.tv_nsec / 1000;
    return 0;
}
