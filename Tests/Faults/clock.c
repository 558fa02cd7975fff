// Clocks that a test sets for one program: a shared object for LD_PRELOAD. The kernel's clocks are not
// changed.
//
//   CLOCK_PAGE      a file of 16 bytes that a test shares with the program: the seconds by which its
//                   wall clock is ahead, and the seconds by which its clocks since boot are ahead. No
//                   kernel sets the latter, but libraries of this kind do.
//
// Absolute timers are set back by the time by which their clock is ahead. After a jump, the kernel can
// therefore receive a time before its start, which it refuses (EINVAL). Only calls of the C library are
// intercepted, including those by libraries.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

static _Atomic int64_t *ahead;

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("CLOCK_PAGE");
    if (!path) return;
    int file = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
    if (file < 0) return;
    void *map = mmap(NULL, 2 * sizeof *ahead, PROT_READ, MAP_SHARED, file, 0);
    syscall(SYS_close, file);
    if (map != MAP_FAILED) ahead = map;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    int result = syscall(SYS_clock_gettime, clock, now);
    if (result == 0 && ahead) {
        if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE) now->tv_sec += ahead[0];
        if (clock == CLOCK_BOOTTIME || clock == CLOCK_MONOTONIC) now->tv_sec += ahead[1];
    }
    return result;
}

int timerfd_settime(int timer, int flags, const struct itimerspec *when, struct itimerspec *before) {
    struct itimerspec real = *when;
    if (ahead && flags == TFD_TIMER_ABSTIME && (when->it_value.tv_sec || when->it_value.tv_nsec)) real.it_value.tv_sec -= ahead[1];
    return syscall(SYS_timerfd_settime, timer, flags, &real, before);
}

int gettimeofday(struct timeval *now, void *zone) {
    int result = syscall(SYS_gettimeofday, now, zone);
    if (result == 0 && ahead) now->tv_sec += ahead[0];
    return result;
}

time_t time(time_t *to) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (to) *to = now.tv_sec;
    return now.tv_sec;
}
