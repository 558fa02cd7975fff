/* The floor to which the daemon is compared: the time of a plain C program over OpenSSL for the same bytes on the
 * same machine. A server process and a client; TCP on loopback, TLS 1.3 with Ed25519 certificates on both sides,
 * X25519, no tickets, TCP_NODELAY; then a request of 64 bytes and an answer of 3 KiB.
 *
 * usage: floor FOLDER   reads lines from standard input, and prints microseconds for each:
 *        cold           connect, handshake on both sides, request, answer
 *        warm           request and answer on an open connection
 *        pair           connect, handshake without a certificate of the client, then the cryptography, round trips and
 *                       durable files (in FOLDER) of a pairing by docs/protocol.md: scrypt, SPAKE2, a signature each
 */
#include <fcntl.h>
#include <openssl/bn.h>
#include <openssl/ec.h>

#include "tls.h"

enum { REQUEST = 64, ANSWER = 3072 };
/* Bytes of the messages of a pairing, and of an account of two devices. */
enum { SALT = 16, POINT = 65, CONFIRMATION = 32, SIGNATURE = 64, ACCOUNT = 1024, STORED = 16 };

static void answer_requests(SSL *s)
{
    static unsigned char request[REQUEST], answer[ANSWER];
    while (SSL_read(s, request, sizeof request) > 0)
        whole(s, answer, sizeof answer, 1);
}

/* ---- Pairing: SPAKE2 on P-256 with four multiplications on each side, as in RFC 9382 ---- */

static const char *folder = ".";
static EVP_PKEY *signers[2];
static EC_GROUP *group;
static EC_POINT *blinds[2]; /* M and N; any two points cost the same */
static BIGNUM *password;

static void prepare_pairing(void)
{
    group = EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1);
    password = BN_new();
    check(group != NULL && password != NULL && BN_rand_range(password, EC_GROUP_get0_order(group)), "P-256");
    BN_set_flags(password, BN_FLG_CONSTTIME);
    for (int i = 0; i < 2; i++) {
        BIGNUM *k = BN_new();
        blinds[i] = EC_POINT_new(group);
        check(k && BN_rand_range(k, EC_GROUP_get0_order(group)) && EC_POINT_mul(group, blinds[i], k, NULL, NULL, NULL),
              "a point");
        BN_free(k);
    }
}

/* One side's part: computes a share, and later the shared point from it and the other's share. */
struct spake {
    BIGNUM *secret;
    unsigned char share[POINT], shared[POINT];
};

static void multiply(EC_POINT *result, const EC_POINT *point, const BIGNUM *by)
{
    check(EC_POINT_mul(group, result, point ? NULL : by, point, point ? by : NULL, NULL), "multiplying");
}

static void encode(const EC_POINT *point, unsigned char *bytes)
{
    check(EC_POINT_point2oct(group, point, POINT_CONVERSION_UNCOMPRESSED, bytes, POINT, NULL) == POINT, "a point");
}

static void make_share(struct spake *k, int role)
{
    EC_POINT *a = EC_POINT_new(group), *b = EC_POINT_new(group);
    k->secret = BN_new();
    check(a && b && k->secret && BN_rand_range(k->secret, EC_GROUP_get0_order(group)), "a secret");
    BN_set_flags(k->secret, BN_FLG_CONSTTIME);
    multiply(a, NULL, k->secret);
    multiply(b, blinds[role], password);
    check(EC_POINT_add(group, a, a, b, NULL), "adding");
    encode(a, k->share);
    EC_POINT_free(a);
    EC_POINT_free(b);
}

static void use_share(struct spake *k, int role, const unsigned char *other)
{
    EC_POINT *a = EC_POINT_new(group), *b = EC_POINT_new(group);
    check(a && b && EC_POINT_oct2point(group, a, other, POINT, NULL), "the other's share");
    multiply(b, blinds[!role], password);
    check(EC_POINT_invert(group, b, NULL) && EC_POINT_add(group, a, a, b, NULL), "subtracting");
    multiply(b, a, k->secret);
    encode(b, k->shared);
    EC_POINT_free(a);
    EC_POINT_free(b);
    BN_clear_free(k->secret);
}

static void sign(int role, unsigned char *signature)
{
    static const unsigned char text[96];
    size_t count = SIGNATURE;
    EVP_MD_CTX *c = EVP_MD_CTX_new();
    check(c && EVP_DigestSignInit(c, NULL, NULL, NULL, signers[role]) == 1
              && EVP_DigestSign(c, signature, &count, text, sizeof text) == 1,
          "signing");
    EVP_MD_CTX_free(c);
}

static void verify(int role, const unsigned char *signature)
{
    static const unsigned char text[96];
    EVP_MD_CTX *c = EVP_MD_CTX_new();
    check(c && EVP_DigestVerifyInit(c, NULL, NULL, NULL, signers[role]) == 1
              && EVP_DigestVerify(c, signature, SIGNATURE, text, sizeof text) == 1,
          "verifying");
    EVP_MD_CTX_free(c);
}

/* Writes a file so that it survives a loss of power: syncs file, name and folder. */
static void store(const unsigned char *bytes, int role)
{
    char name[2][4096];
    snprintf(name[0], sizeof name[0], "%s/floor-%d.new", folder, role);
    snprintf(name[1], sizeof name[1], "%s/floor-%d", folder, role);
    int fd = open(name[0], O_CREAT | O_TRUNC | O_WRONLY, 0600), in = open(folder, O_RDONLY | O_DIRECTORY);
    check(fd >= 0 && in >= 0 && write(fd, bytes, ACCOUNT) == ACCOUNT && fsync(fd) == 0 && close(fd) == 0
              && rename(name[0], name[1]) == 0 && fsync(in) == 0 && close(in) == 0,
          "storing");
}

static void invite(SSL *s)
{
    unsigned char salt[SALT] = {0}, share[POINT], confirmation[CONFIRMATION], signature[SIGNATURE], stored[STORED];
    static unsigned char account[ACCOUNT];
    struct spake k;
    whole(s, salt, sizeof salt, 1);
    whole(s, share, sizeof share, 0);
    make_share(&k, 1);
    whole(s, k.share, POINT, 1);
    use_share(&k, 1, share);
    whole(s, confirmation, sizeof confirmation, 0);
    check(CRYPTO_memcmp(confirmation, k.shared + 1, sizeof confirmation) == 0, "agreeing");
    whole(s, confirmation, sizeof confirmation, 1);
    whole(s, signature, sizeof signature, 0);
    verify(0, signature);
    sign(1, signature);
    whole(s, signature, sizeof signature, 1);
    store(account, 1);
    whole(s, account, sizeof account, 1);
    whole(s, stored, sizeof stored, 0);
}

static void join(SSL *s)
{
    unsigned char salt[SALT], share[POINT], w[48], confirmation[CONFIRMATION], signature[SIGNATURE];
    unsigned char account[ACCOUNT], stored[STORED] = {0};
    struct spake k;
    whole(s, salt, sizeof salt, 0);
    check(EVP_PBE_scrypt("12345678", 8, salt, sizeof salt, 65536, 8, 1, 128 << 20, w, sizeof w), "scrypt");
    make_share(&k, 0);
    whole(s, k.share, POINT, 1);
    whole(s, share, sizeof share, 0);
    use_share(&k, 0, share);
    whole(s, k.shared + 1, sizeof confirmation, 1);
    whole(s, confirmation, sizeof confirmation, 0);
    sign(0, signature);
    whole(s, signature, sizeof signature, 1);
    whole(s, signature, sizeof signature, 0);
    verify(1, signature);
    whole(s, account, sizeof account, 0);
    store(account, 0);
    whole(s, stored, sizeof stored, 1);
}

int main(int count, char **words)
{
    static unsigned char request[REQUEST], answer[ANSWER];
    signal(SIGPIPE, SIG_IGN);
    if (count > 1)
        folder = words[1];
    for (int i = 0; i < 2; i++) {
        expected[i] = signers[i] = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
        check(signers[i] != NULL, "making keys");
    }
    prepare_pairing();

    /* A server for each kind of connection, because each serves one connection at a time. */
    enum { WARM, COLD, PAIR, KINDS };
    struct sockaddr_in addresses[KINDS];
    pid_t servers[KINDS];
    for (int i = 0; i < KINDS; i++)
        servers[i] = i == PAIR ? start(&addresses[i], context(1, signers[0], NULL), invite)
                               : start(&addresses[i], context(1, signers[0], &expected[1]), answer_requests);

    SSL_CTX *client = context(0, signers[1], &expected[0]), *joiner = context(0, signers[1], NULL);
    SSL *open = connected(&addresses[WARM], client);
    char line[64];
    while (fgets(line, sizeof line, stdin)) {
        int cold = strncmp(line, "cold", 4) == 0, pair = strncmp(line, "pair", 4) == 0;
        double begin = microseconds();
        SSL *s = pair ? connected(&addresses[PAIR], joiner) : cold ? connected(&addresses[COLD], client) : open;
        if (pair) {
            join(s);
        } else {
            whole(s, request, sizeof request, 1);
            whole(s, answer, sizeof answer, 0);
        }
        printf("%.1f\n", microseconds() - begin);
        fflush(stdout);
        if (s != open)
            hang_up(s);
    }
    hang_up(open);
    for (int i = 0; i < KINDS; i++)
        kill(servers[i], SIGKILL);
    return 0;
}
