/* The two apps of a measurement. They are as small as possible, so that the daemons are measured.
 *
 * usage: app owner SOCKET BYTES   publishes an activity with about BYTES of payload, and saves on request; prints its id
 *                                 first, then 'changed NANOSECONDS' for each line on standard input: the time just
 *                                 before a new title is sent
 *        app taker SOCKET         continues the activity whose id it reads as a line from standard input, as its handler;
 *                                 prints the microseconds from the call until the payload arrived
 *        app watcher SOCKET       prints 'EVENT ID NANOSECONDS' for each event of the offers
 *
 * Nanoseconds are of CLOCK_MONOTONIC, so that processes of one machine can be compared. The daemon's compact JSON is
 * searched as text, which a real app should not do.
 */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

struct stream {
    int fd;
    size_t used;
    char bytes[1 << 20];
};

static void fail(const char *what, const char *more)
{
    fprintf(stderr, "app: %s: %s\n", what, more);
    exit(1);
}

static long long nanoseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static struct stream *open_stream(const char *path)
{
    struct stream *s = calloc(1, sizeof *s);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (s == NULL || strlen(path) >= sizeof address.sun_path)
        fail("bad path", path);
    strcpy(address.sun_path, path);
    s->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (s->fd < 0 || connect(s->fd, (struct sockaddr *)&address, sizeof address) != 0)
        fail("cannot connect", path);
    return s;
}

__attribute__((format(printf, 2, 3))) static void send_message(struct stream *s, const char *format, ...)
{
    char *text;
    va_list list;
    va_start(list, format);
    int count = vasprintf(&text, format, list);
    va_end(list);
    if (count < 0 || write(s->fd, text, (size_t)count + 1) != count + 1) /* with the NUL that ends a message */
        fail("cannot send", "write");
    free(text);
}

/* Reads a whole message into `message`. Returns 0 at the end of the connection. */
static int next_message(struct stream *s, char *message, size_t size)
{
    for (;;) {
        char *end = memchr(s->bytes, 0, s->used);
        if (end != NULL) {
            size_t count = (size_t)(end - s->bytes) + 1;
            if (count > size)
                fail("too long", "message");
            memcpy(message, s->bytes, count);
            s->used -= count;
            memmove(s->bytes, end + 1, s->used);
            return 1;
        }
        ssize_t got = read(s->fd, s->bytes + s->used, sizeof s->bytes - s->used);
        if (got <= 0)
            return 0;
        s->used += (size_t)got;
    }
}

static void must(struct stream *s, char *message, size_t size)
{
    if (!next_message(s, message, size))
        fail("the daemon closed the connection", "");
    if (strstr(message, "\"error\":\""))
        fail("refused", message);
}

/* Copies the text after "key":" into `value`. */
static int field(const char *message, const char *key, char *value, size_t size)
{
    char pattern[64];
    snprintf(pattern, sizeof pattern, "\"%s\":\"", key);
    const char *found = strstr(message, pattern);
    if (found == NULL)
        return 0;
    found += strlen(pattern);
    size_t count = strcspn(found, "\"");
    if (count >= size)
        return 0;
    memcpy(value, found, count);
    value[count] = 0;
    return 1;
}

static char message[1 << 20];

static void owner(const char *path, size_t bytes)
{
    struct stream *events = open_stream(path), *calls = open_stream(path);
    char session[128], activity[128], line[64];
    int changes = 0;
    char *filler = malloc(bytes + 1);
    memset(filler, 'x', bytes);
    filler[bytes] = 0;
    send_message(events, "{\"method\":\"dev.handoff1.Attach\",\"more\":true,\"parameters\":{\"app\":\"benchmark\",\"types\":[]}}");
    must(events, message, sizeof message);
    if (!field(message, "session", session, sizeof session))
        fail("no session", message);
    send_message(calls,
                 "{\"method\":\"dev.handoff1.Publish\",\"parameters\":{\"session\":\"%s\",\"activity\":{\"type\":"
                 "\"com.example.benchmark\",\"title\":\"0\",\"userInfo\":{\"a\":\"%s\"},\"needsSave\":true}}}",
                 session, filler);
    must(calls, message, sizeof message);
    if (!field(message, "activity", activity, sizeof activity))
        fail("no activity", message);
    send_message(calls, "{\"method\":\"dev.handoff1.BecomeCurrent\",\"parameters\":{\"session\":\"%s\",\"activity\":\"%s\"}}",
                 session, activity);
    must(calls, message, sizeof message);
    printf("%s\n", activity);
    fflush(stdout);
    struct pollfd fds[2] = {{.fd = events->fd, .events = POLLIN}, {.fd = 0, .events = POLLIN}};
    for (;;) {
        if (events->used == 0 && poll(fds, 2, -1) < 0)
            fail("poll", "");
        if (fds[1].revents) {
            if (!fgets(line, sizeof line, stdin))
                return;
            printf("changed %lld\n", nanoseconds());
            fflush(stdout);
            send_message(calls,
                         "{\"method\":\"dev.handoff1.Update\",\"parameters\":{\"session\":\"%s\",\"activity\":\"%s\","
                         "\"change\":{\"title\":\"%d\"}}}",
                         session, activity, ++changes);
            must(calls, message, sizeof message);
        }
        if (fds[0].revents || events->used) {
            must(events, message, sizeof message);
            if (strstr(message, "\"event\":\"save\"")) {
                send_message(calls,
                             "{\"method\":\"dev.handoff1.AnswerSave\",\"parameters\":{\"session\":\"%s\",\"activity\":"
                             "\"%s\",\"change\":{\"userInfo\":{\"a\":\"%s\"},\"needsSave\":true}}}",
                             session, activity, filler);
                must(calls, message, sizeof message);
            }
        }
        fds[0].revents = fds[1].revents = 0;
    }
}

static void taker(const char *path)
{
    struct stream *s = open_stream(path);
    char id[128];
    while (fgets(id, sizeof id, stdin)) {
        id[strcspn(id, "\n")] = 0;
        long long begin = nanoseconds();
        send_message(s, "{\"method\":\"dev.handoff1.Control.Continue\",\"more\":true,\"parameters\":{\"activity\":\"%s\",\"take\":true}}", id);
        do {
            if (!next_message(s, message, sizeof message))
                fail("the daemon closed the connection", "");
        } while (strstr(message, "\"continues\":true"));
        long long end = nanoseconds();
        if (strstr(message, "\"error\":\""))
            fail("refused", message);
        printf("%.1f\n", (double)(end - begin) / 1e3);
        fflush(stdout);
    }
}

static void watcher(const char *path)
{
    struct stream *s = open_stream(path);
    char event[32], id[128];
    send_message(s, "{\"method\":\"dev.handoff1.Control.Watch\",\"more\":true}");
    for (;;) {
        must(s, message, sizeof message);
        long long now = nanoseconds();
        if (!field(message, "event", event, sizeof event))
            fail("no event", message);
        if (!field(message, "id", id, sizeof id))
            strcpy(id, "-");
        printf("%s %s %lld\n", event, id, now);
        fflush(stdout);
    }
}

int main(int count, char **words)
{
    if (count == 4 && strcmp(words[1], "owner") == 0)
        owner(words[2], strtoul(words[3], NULL, 10));
    else if (count == 3 && strcmp(words[1], "taker") == 0)
        taker(words[2]);
    else if (count == 3 && strcmp(words[1], "watcher") == 0)
        watcher(words[2]);
    else
        fail("usage", "app owner SOCKET BYTES | taker SOCKET | watcher SOCKET");
    return 0;
}
