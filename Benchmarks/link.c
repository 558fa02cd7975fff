/* A cable between two network devices of type tap, with a delay. The kernel may lack netem, and a program in Python adds
 * more jitter than the processes that are compared.
 *
 * usage: link DEVICE DEVICE   the numbers of two inherited descriptors. Forwards frames without a delay. Reads lines from
 *                             standard input, sets the delay of later frames to that number of microseconds, and prints it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum { FRAMES = 1024, FRAME = 2048 };

/* The frames of both directions in the order of their arrival, which is also that of their times. */
struct frame {
    long long time;
    int target;
    ssize_t length;
    unsigned char content[FRAME];
};
static struct frame frames[FRAMES];
static unsigned first, count;

static long long nanoseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void receive(int source, int target, long long delay)
{
    /* A full queue loses the frame, like that of a switch. */
    static unsigned char lost[FRAME];
    struct frame *f = &frames[(first + count) % FRAMES];
    int full = count == FRAMES;
    ssize_t length = read(source, full ? lost : f->content, FRAME);
    if (length <= 0 || full)
        return;
    f->time = nanoseconds() + delay;
    /* A smaller delay does not reorder frames. */
    if (count > 0 && f->time < frames[(first + count - 1) % FRAMES].time)
        f->time = frames[(first + count - 1) % FRAMES].time;
    f->target = target;
    f->length = length;
    count++;
}

static void deliver(void)
{
    for (; count > 0 && frames[first].time <= nanoseconds(); count--) {
        struct frame *f = &frames[first];
        if (write(f->target, f->content, (size_t)f->length) < 0 && errno != EIO && errno != EAGAIN) {
            perror("link: write");
            exit(1);
        }
        first = (first + 1) % FRAMES;
    }
    /* The memory of the first frames stays in the caches of the processor. */
    if (count == 0)
        first = 0;
}

int main(int words, char **word)
{
    if (words != 3) {
        fprintf(stderr, "usage: link DEVICE DEVICE\n");
        return 2;
    }
    struct pollfd watched[] = {{atoi(word[1]), POLLIN, 0}, {atoi(word[2]), POLLIN, 0}, {0, POLLIN, 0}};
    long long delay = 0;
    char line[32];
    prctl(PR_SET_TIMERSLACK, 1UL); /* Otherwise the kernel adds up to 50 microseconds to each wait. */
    for (;;) {
        long long wait = count > 0 ? frames[first].time - nanoseconds() : 0;
        struct timespec limit = {wait > 0 ? wait / 1000000000LL : 0, wait > 0 ? wait % 1000000000LL : 0};
        if (ppoll(watched, 3, count > 0 ? &limit : NULL, NULL) < 0) {
            perror("link: ppoll");
            return 1;
        }
        for (int i = 0; i < 2; i++)
            if (watched[i].revents & POLLIN)
                receive(watched[i].fd, watched[1 - i].fd, delay);
        deliver();
        if (watched[2].revents) {
            ssize_t length = read(0, line, sizeof line - 1);
            if (length <= 0)
                return 0;
            line[length] = 0;
            delay = atoll(line) * 1000;
            printf("%lld\n", delay / 1000);
            fflush(stdout);
        }
    }
}
