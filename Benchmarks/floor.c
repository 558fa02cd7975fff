/* The floor that the daemon is measured against: what a plain C program over OpenSSL needs for the same bytes on the
 * same machine. A server process and a client; TCP on loopback, TLS 1.3 with Ed25519 certificates on both sides,
 * X25519, no tickets, TCP_NODELAY; then a request of 64 bytes and an answer of 3 KiB.
 *
 * usage: floor          reads lines from standard input, and answers each with microseconds:
 *        cold           connect, handshake on both sides, request, answer
 *        warm           request and answer on a connection that is open
 */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { REQUEST = 64, ANSWER = 3072 };

static void check(int good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "floor: %s failed\n", what);
    ERR_print_errors_fp(stderr);
    exit(1);
}

static double microseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

/* An Ed25519 key with a certificate that it signed itself. */
static X509 *certificate(EVP_PKEY *key)
{
    X509 *cert = X509_new();
    check(cert != NULL, "X509_new");
    X509_set_version(cert, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(cert), 1);
    X509_gmtime_adj(X509_getm_notBefore(cert), -3600);
    X509_gmtime_adj(X509_getm_notAfter(cert), 86400);
    X509_NAME_add_entry_by_txt(X509_get_subject_name(cert), "CN", MBSTRING_ASC, (const unsigned char *)"floor", -1, -1, 0);
    X509_set_issuer_name(cert, X509_get_subject_name(cert));
    X509_set_pubkey(cert, key);
    check(X509_sign(cert, key, NULL) > 0, "X509_sign");
    return cert;
}

/* The peer is accepted when its key is the one that was expected, whatever else the certificate says. */
static EVP_PKEY *expected[2];

static int accept_key(X509_STORE_CTX *store, void *role)
{
    X509 *peer = X509_STORE_CTX_get0_cert(store);
    return peer != NULL && EVP_PKEY_eq(X509_get0_pubkey(peer), *(EVP_PKEY **)role) == 1;
}

static SSL_CTX *context(int server, EVP_PKEY *key, EVP_PKEY **peer)
{
    SSL_CTX *c = SSL_CTX_new(server ? TLS_server_method() : TLS_client_method());
    check(c != NULL, "SSL_CTX_new");
    X509 *cert = certificate(key);
    check(SSL_CTX_set_min_proto_version(c, TLS1_3_VERSION) && SSL_CTX_set1_groups_list(c, "X25519")
              && SSL_CTX_set1_sigalgs_list(c, "ed25519") && SSL_CTX_set_num_tickets(c, 0)
              && SSL_CTX_use_certificate(c, cert) && SSL_CTX_use_PrivateKey(c, key),
          "setting up TLS");
    SSL_CTX_set_session_cache_mode(c, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_verify(c, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
    SSL_CTX_set_cert_verify_callback(c, accept_key, peer);
    X509_free(cert);
    return c;
}

static void whole(SSL *s, unsigned char *bytes, int count, int writing)
{
    for (int done = 0; done < count;) {
        int now = writing ? SSL_write(s, bytes + done, count - done) : SSL_read(s, bytes + done, count - done);
        check(now > 0, writing ? "SSL_write" : "SSL_read");
        done += now;
    }
}

static void without_delay(int fd)
{
    int one = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
}

static void serve(int listener, SSL_CTX *c)
{
    static unsigned char request[REQUEST], answer[ANSWER];
    for (;;) {
        int fd = accept(listener, NULL, NULL);
        check(fd >= 0, "accept");
        without_delay(fd);
        SSL *s = SSL_new(c);
        SSL_set_fd(s, fd);
        if (SSL_accept(s) == 1)
            while (SSL_read(s, request, sizeof request) > 0)
                whole(s, answer, sizeof answer, 1);
        ERR_clear_error();
        SSL_free(s);
        close(fd);
    }
}

static SSL *connected(const struct sockaddr_in *address, SSL_CTX *c)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    check(fd >= 0 && connect(fd, (const struct sockaddr *)address, sizeof *address) == 0, "connect");
    without_delay(fd);
    SSL *s = SSL_new(c);
    SSL_set_fd(s, fd);
    check(SSL_connect(s) == 1, "SSL_connect");
    return s;
}

static void hang_up(SSL *s)
{
    int fd = SSL_get_fd(s);
    SSL_free(s);
    close(fd);
}

/* Starts a server process on a free port. */
static pid_t start(struct sockaddr_in *address, EVP_PKEY *key)
{
    socklen_t size = sizeof *address;
    *address = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    check(listener >= 0 && bind(listener, (struct sockaddr *)address, size) == 0 && listen(listener, 16) == 0
              && getsockname(listener, (struct sockaddr *)address, &size) == 0,
          "listening");
    pid_t server = fork();
    check(server >= 0, "fork");
    if (server == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        serve(listener, context(1, key, &expected[1]));
    }
    close(listener);
    return server;
}

int main(void)
{
    static unsigned char request[REQUEST], answer[ANSWER];
    signal(SIGPIPE, SIG_IGN);
    EVP_PKEY *keys[2] = {EVP_PKEY_Q_keygen(NULL, NULL, "ED25519"), EVP_PKEY_Q_keygen(NULL, NULL, "ED25519")};
    check(keys[0] && keys[1], "making keys");
    expected[0] = keys[0];
    expected[1] = keys[1];

    /* A server for the connections that come and go, and one for that which stays: each does one thing at a time. */
    struct sockaddr_in addresses[2];
    pid_t servers[2];
    for (int i = 0; i < 2; i++)
        servers[i] = start(&addresses[i], keys[0]);

    SSL_CTX *client = context(0, keys[1], &expected[0]);
    SSL *open = connected(&addresses[0], client);
    char line[64];
    while (fgets(line, sizeof line, stdin)) {
        int cold = strncmp(line, "cold", 4) == 0;
        double begin = microseconds();
        SSL *s = cold ? connected(&addresses[1], client) : open;
        whole(s, request, sizeof request, 1);
        whole(s, answer, sizeof answer, 0);
        printf("%.1f\n", microseconds() - begin);
        fflush(stdout);
        if (cold)
            hang_up(s);
    }
    hang_up(open);
    kill(servers[0], SIGKILL);
    kill(servers[1], SIGKILL);
    return 0;
}
