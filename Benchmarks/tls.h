/* The common parts of the programs over bare OpenSSL: TLS 1.3 with Ed25519 certificates on both sides, X25519, no tickets. */
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

static void check(int good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "%s failed\n", what);
    ERR_print_errors_fp(stderr);
    exit(1);
}

static double microseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

/* An Ed25519 key with a self-signed certificate. */
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

/* Accepts the peer if its key is the expected one, whatever else the certificate contains. */
static EVP_PKEY *expected[2];

static int accept_key(X509_STORE_CTX *store, void *role)
{
    X509 *peer = X509_STORE_CTX_get0_cert(store);
    return peer != NULL && EVP_PKEY_eq(X509_get0_pubkey(peer), *(EVP_PKEY **)role) == 1;
}

/* Without a peer it requests no certificate, and sends none as a client. */
static SSL_CTX *context(int server, EVP_PKEY *key, EVP_PKEY **peer)
{
    SSL_CTX *c = SSL_CTX_new(server ? TLS_server_method() : TLS_client_method());
    check(c != NULL, "SSL_CTX_new");
    X509 *cert = certificate(key);
    check(SSL_CTX_set_min_proto_version(c, TLS1_3_VERSION) && SSL_CTX_set1_groups_list(c, "X25519")
              && SSL_CTX_set1_sigalgs_list(c, "ed25519") && SSL_CTX_set_num_tickets(c, 0),
          "setting up TLS");
    SSL_CTX_set_session_cache_mode(c, SSL_SESS_CACHE_OFF);
    if (server || peer)
        check(SSL_CTX_use_certificate(c, cert) && SSL_CTX_use_PrivateKey(c, key), "using the certificate");
    if (peer) {
        SSL_CTX_set_verify(c, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
        SSL_CTX_set_cert_verify_callback(c, accept_key, peer);
    }
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

static void serve(int listener, SSL_CTX *c, void (*talk)(SSL *))
{
    for (;;) {
        int fd = accept(listener, NULL, NULL);
        check(fd >= 0, "accept");
        without_delay(fd);
        SSL *s = SSL_new(c);
        SSL_set_fd(s, fd);
        if (SSL_accept(s) == 1)
            talk(s);
        ERR_clear_error();
        SSL_free(s);
        close(fd);
    }
}

/* Starts a server process on a free port of an address. */
static pid_t start_at(const char *host, struct sockaddr_in *address, SSL_CTX *c, void (*talk)(SSL *))
{
    socklen_t size = sizeof *address;
    *address = (struct sockaddr_in){.sin_family = AF_INET};
    check(inet_pton(AF_INET, host, &address->sin_addr) == 1, host);
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    check(listener >= 0 && bind(listener, (struct sockaddr *)address, size) == 0 && listen(listener, 16) == 0
              && getsockname(listener, (struct sockaddr *)address, &size) == 0,
          "listening");
    pid_t server = fork();
    check(server >= 0, "fork");
    if (server == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        serve(listener, c, talk);
    }
    close(listener);
    return server;
}

/* Starts a server process on a free port of loopback. */
static pid_t start(struct sockaddr_in *address, SSL_CTX *c, void (*talk)(SSL *))
{
    return start_at("127.0.0.1", address, c, talk);
}
