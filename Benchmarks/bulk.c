/* Many bytes: the floor for streams, and the two apps of a measurement.
 *
 * usage: bulk floor [ADDRESS NETWORK]
 *                            reads lines 'BYTES WRITE [SOURCE TARGET]', moves BYTES over TLS 1.3 (AES-128-GCM) on
 *                            loopback by OpenSSL's socket BIO, in writes of WRITE bytes: from memory, and discards them,
 *                            or from the file SOURCE over the file TARGET, each of which may be a pipe; prints
 *                            'SECONDS CPU-SECONDS-SENDER CPU-SECONDS-RECEIVER'. With ADDRESS, the bytes are sent from
 *                            there, in another network namespace, which is the file NETWORK
 *        bulk write BYTES    writes BYTES from memory to standard input, which is a socket, ends its direction
 *                            and reads to the end of the other
 *        bulk read           reads standard input to its end and discards it; prints 'BYTES NANOSECONDS', the time at
 *                            which the last byte arrived, by CLOCK_MONOTONIC; then ends its own direction
 *        bulk shared-write BYTES MEMORY BELL
 *        bulk shared-read MEMORY BELL
 *                            the same through memory that is shared with the daemon (docs/control-protocol.md): the
 *                            numbers of its descriptor and of the bell for room; standard input is the other bell
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "tls.h"

enum { CHUNK = 256 * 1024, RECORD = 16 * 1024 };

static unsigned char memory[CHUNK];

struct order {
    unsigned long long bytes, write;
    char source[PATH_MAX]; /* Empty: from memory. */
};

static double cpu(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) + (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

/* Reads exactly `count` bytes, also from a pipe. */
static void fill(int source, int count, const char *name)
{
    for (int done = 0; done < count;) {
        ssize_t now = read(source, memory + done, (size_t)(count - done));
        check(now > 0, name);
        done += (int)now;
    }
}

/* The server: sends the ordered bytes, and their cost in processor time. */
static void pour(SSL *s)
{
    struct order order;
    whole(s, (unsigned char *)&order, sizeof order, 0);
    check(order.write > 0 && order.write <= sizeof memory, "an order");
    double begin = cpu();
    int source = -1;
    if (order.source[0] != 0)
        check((source = open(order.source, O_RDONLY)) >= 0, order.source);
    for (unsigned long long left = order.bytes; left > 0;) {
        int now = left < order.write ? (int)left : (int)order.write;
        if (source >= 0)
            fill(source, now, order.source);
        whole(s, memory, now, 1);
        left -= (unsigned long long)now;
    }
    if (source >= 0)
        close(source);
    double cost = cpu() - begin;
    whole(s, (unsigned char *)&cost, sizeof cost, 1);
}

/* Starts the server, in another network namespace if one is given. */
static pid_t start_there(struct sockaddr_in *address, SSL_CTX *c, const char *host, const char *network)
{
    if (host == NULL)
        return start(address, c, pour);
    int own = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC), other = open(network, O_RDONLY | O_CLOEXEC);
    check(own >= 0 && setns(other, CLONE_NEWNET) == 0, "entering the network");
    pid_t child = start_at(host, address, c, pour);
    check(setns(own, CLONE_NEWNET) == 0, "coming back from the network");
    return child;
}

static void measure_floor(const char *host, const char *network)
{
    static unsigned char sink[RECORD];
    EVP_PKEY *keys[2];
    for (int i = 0; i < 2; i++) {
        expected[i] = keys[i] = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
        check(keys[i] != NULL, "making keys");
    }
    SSL_CTX *server = context(1, keys[0], &expected[1]), *client = context(0, keys[1], &expected[0]);
    check(SSL_CTX_set_ciphersuites(server, "TLS_AES_128_GCM_SHA256") && SSL_CTX_set_ciphersuites(client, "TLS_AES_128_GCM_SHA256"),
          "choosing the cipher");
    struct sockaddr_in address;
    pid_t child = start_there(&address, server, host, network);
    char line[2 * PATH_MAX], name[PATH_MAX];
    while (fgets(line, sizeof line, stdin)) {
        struct order order = {0};
        int words = sscanf(line, "%llu %llu %4095s %4095s", &order.bytes, &order.write, order.source, name), target = -1;
        check(words == 2 || words == 4, "reading an order");
        SSL *s = connected(&address, client);
        double begin = microseconds(), cost = cpu(), other;
        if (words == 4)
            check((target = open(name, O_WRONLY | O_CREAT, 0600)) >= 0, name);
        whole(s, (unsigned char *)&order, sizeof order, 1);
        for (unsigned long long left = order.bytes; left > 0;) {
            int now = SSL_read(s, sink, left < sizeof sink ? (int)left : (int)sizeof sink);
            check(now > 0, "SSL_read");
            check(target < 0 || write(target, sink, (size_t)now) == now, name);
            left -= (unsigned long long)now;
        }
        if (target >= 0)
            close(target);
        double end = microseconds();
        cost = cpu() - cost;
        whole(s, (unsigned char *)&other, sizeof other, 0);
        printf("%.6f %.4f %.4f\n", (end - begin) / 1e6, other, cost);
        fflush(stdout);
        hang_up(s);
    }
    kill(child, SIGKILL);
}

static void write_all(unsigned long long left)
{
    while (left > 0) {
        ssize_t now = write(0, memory, left < sizeof memory ? (size_t)left : sizeof memory);
        check(now > 0, "write");
        left -= (unsigned long long)now;
    }
    check(shutdown(0, SHUT_WR) == 0, "shutdown");
    while (read(0, memory, sizeof memory) > 0)
        ;
}

static void read_all(void)
{
    unsigned long long count = 0;
    ssize_t now;
    while ((now = read(0, memory, sizeof memory)) > 0)
        count += (unsigned long long)now;
    check(now == 0, "read");
    printf("%llu %.0f\n", count, microseconds() * 1e3);
    shutdown(0, SHUT_WR);
}

/* A direction in shared memory, as defined in docs/control-protocol.md. */
struct ring {
    _Atomic unsigned long long written;
    _Atomic unsigned ended;
    _Alignas(64) _Atomic unsigned long long read;
    _Alignas(64) _Atomic unsigned reader_waits;
    _Alignas(64) _Atomic unsigned writer_waits;
};

enum { PAGE = 4096 };

struct shared {
    struct ring *out, *in;
    unsigned char *out_bytes, *in_bytes;
    unsigned long long size;
    int room_bell;
};

static struct shared map_shared(const char *memory_word, const char *bell)
{
    struct stat status;
    check(fstat(atoi(memory_word), &status) == 0, "looking at the memory");
    unsigned char *start = mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, atoi(memory_word), 0);
    check(start != MAP_FAILED, "mapping the memory");
    unsigned long long size = (unsigned long long)status.st_size / 2 - PAGE;
    return (struct shared){.out = (struct ring *)start, .in = (struct ring *)(start + PAGE), .size = size,
                           .out_bytes = start + 2 * PAGE, .in_bytes = start + 2 * PAGE + size, .room_bell = atoi(bell)};
}

static void ring_bell(_Atomic unsigned *waits)
{
    if (atomic_load(waits) != 0 && atomic_exchange(waits, 0) != 0)
        check(send(0, "", 1, MSG_NOSIGNAL | MSG_DONTWAIT) == 1, "ringing");
}

static void hear_bell(int bell)
{
    char rings[64];
    check(read(bell, rings, sizeof rings) > 0, "the stream");
}

static void write_shared(struct shared s, unsigned long long left)
{
    for (unsigned long long at = 0; left > 0;) {
        unsigned long long room = s.size - (at - s.out->read), start = at % s.size, now = left;
        if (room < s.size / 4) {
            atomic_exchange(&s.out->writer_waits, 1);
            if (s.size - (at - s.out->read) < s.size / 4)
                hear_bell(s.room_bell);
            continue;
        }
        now = now < room ? now : room;
        now = now < s.size - start ? now : s.size - start;
        now = now < sizeof memory ? now : sizeof memory;
        memcpy(s.out_bytes + start, memory, now);
        s.out->written = at += now;
        ring_bell(&s.out->reader_waits);
        left -= now;
    }
    s.out->ended = 1;
    ring_bell(&s.out->reader_waits);
    char rings[64]; /* The other app reports what it has read by then. Here the stream only stays open for it. */
    while (read(0, rings, sizeof rings) > 0)
        ;
}

static void read_shared(struct shared s)
{
    unsigned long long at = 0;
    for (;;) {
        int over = s.in->ended != 0;
        unsigned long long now = s.in->written - at, start = at % s.size;
        if (now == 0) {
            if (over)
                break;
            atomic_exchange(&s.in->reader_waits, 1);
            if (s.in->written == at && s.in->ended == 0)
                hear_bell(0);
            continue;
        }
        now = now < s.size - start ? now : s.size - start;
        now = now < sizeof memory ? now : sizeof memory;
        memcpy(memory, s.in_bytes + start, now);
        s.in->read = at += now;
        if (s.in->written - at <= s.size / 2)
            ring_bell(&s.in->writer_waits);
    }
    printf("%llu %.0f\n", at, microseconds() * 1e3);
    s.out->ended = 1;
    ring_bell(&s.out->reader_waits);
}

int main(int count, char **words)
{
    signal(SIGPIPE, SIG_IGN);
    if ((count == 2 || count == 4) && strcmp(words[1], "floor") == 0)
        measure_floor(count == 4 ? words[2] : NULL, count == 4 ? words[3] : NULL);
    else if (count == 3 && strcmp(words[1], "write") == 0)
        write_all(strtoull(words[2], NULL, 10));
    else if (count == 2 && strcmp(words[1], "read") == 0)
        read_all();
    else if (count == 5 && strcmp(words[1], "shared-write") == 0)
        write_shared(map_shared(words[3], words[4]), strtoull(words[2], NULL, 10));
    else if (count == 4 && strcmp(words[1], "shared-read") == 0)
        read_shared(map_shared(words[2], words[3]));
    else
        check(0, "usage: bulk floor [ADDRESS NETWORK] | write BYTES | read | shared-write BYTES MEMORY BELL | shared-read MEMORY BELL:");
    return 0;
}
