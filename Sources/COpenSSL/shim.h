// OpenSSL macros, and functions with OSSL_PARAM arrays, which Swift cannot call directly.
#pragma once
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/decoder.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

/// OPENSSL_secure_malloc: allocates from the locked arena; NULL if it is full.
static inline void *copenssl_secure_malloc(size_t count) { return OPENSSL_secure_malloc(count); }

/// OPENSSL_malloc.
static inline void *copenssl_malloc(size_t count) { return OPENSSL_malloc(count); }

/// OPENSSL_secure_clear_free: overwrites and frees memory of either allocator.
static inline void copenssl_secure_clear_free(void *pointer, size_t count) {
    OPENSSL_secure_clear_free(pointer, count);
}

/// Creates a context of the given HMAC with its digest set but no key; NULL on failure.
static inline EVP_MAC_CTX *copenssl_hmac_template(EVP_MAC *mac, const char *digest) {
    EVP_MAC_CTX *context = EVP_MAC_CTX_new(mac);
    OSSL_PARAM parameters[2] = {
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, (char *)digest, 0),
        OSSL_PARAM_construct_end(),
    };
    if (context && EVP_MAC_CTX_set_params(context, parameters) == 1) return context;
    EVP_MAC_CTX_free(context);
    return NULL;
}

/// HKDF with SHA-256 (RFC 5869) in the mode EVP_KDF_HKDF_MODE_EXTRACT_AND_EXPAND or _EXPAND_ONLY; 1
/// on success.
static inline int copenssl_hkdf_sha256(EVP_KDF *kdf, int mode, const void *key, size_t key_count, const void *salt,
                                       size_t salt_count, const void *info, size_t info_count, void *output,
                                       size_t output_count) {
    EVP_KDF_CTX *context = EVP_KDF_CTX_new(kdf);
    if (!context) return 0;
    OSSL_PARAM parameters[6];
    int next = 0;
    parameters[next++] = OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, (char *)"SHA256", 0);
    parameters[next++] = OSSL_PARAM_construct_int(OSSL_KDF_PARAM_MODE, &mode);
    parameters[next++] = OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, (void *)key, key_count);
    // If the salt is absent, the library uses 32 zero bytes, as in the RFC. It rejects an empty
    // salt.
    if (salt_count)
        parameters[next++] = OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SALT, (void *)salt, salt_count);
    if (info_count)
        parameters[next++] = OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, (void *)info, info_count);
    parameters[next] = OSSL_PARAM_construct_end();
    int result = EVP_KDF_derive(context, (unsigned char *)output, output_count, parameters);
    EVP_KDF_CTX_free(context);  // overwrites the key that it holds
    return result == 1;
}

/// Returns the number of certificates that the peer sent, including its own; -1 if there is none.
static inline int copenssl_chain_count(X509_STORE_CTX *store) {
    return sk_X509_num(X509_STORE_CTX_get0_untrusted(store));
}

/// Creates an ex_data index for a pointer attached to each SSL; -1 on failure.
static inline int copenssl_new_ssl_slot(void) { return SSL_get_ex_new_index(0, NULL, NULL, NULL, NULL); }

/// SSL_CTX_set_min_proto_version and SSL_CTX_set_max_proto_version; 1 on success.
static inline int copenssl_set_versions(SSL_CTX *context, int minimum, int maximum) {
    return SSL_CTX_set_min_proto_version(context, minimum) == 1 && SSL_CTX_set_max_proto_version(context, maximum) == 1;
}

/// SSL_CTX_set1_groups_list; 1 on success.
static inline int copenssl_set_groups(SSL_CTX *context, const char *list) {
    return SSL_CTX_set1_groups_list(context, (char *)list) == 1;
}

/// Returns 1 if the key agreement of a finished handshake was X25519 alone
/// (SSL_get_negotiated_group).
static inline int copenssl_has_x25519(SSL *ssl) { return SSL_get_negotiated_group(ssl) == NID_X25519; }

/// SSL_CTX_set1_sigalgs_list and SSL_CTX_set1_client_sigalgs_list; 1 on success.
static inline int copenssl_set_signatures(SSL_CTX *context, const char *list) {
    return SSL_CTX_set1_sigalgs_list(context, (char *)list) == 1 &&
           SSL_CTX_set1_client_sigalgs_list(context, (char *)list) == 1;
}

/// Disables session caching (SSL_CTX_set_session_cache_mode), both kinds of tickets, and early
/// data.
static inline void copenssl_disable_resumption(SSL_CTX *context) {
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_options(context, SSL_OP_NO_TICKET);
    SSL_CTX_set_num_tickets(context, 0);
    SSL_CTX_set_max_early_data(context, 0);
    SSL_CTX_set_recv_max_early_data(context, 0);
}

/// SSL_CTX_set_mode.
static inline void copenssl_set_mode(SSL_CTX *context, long mode) { SSL_CTX_set_mode(context, mode); }

/// Returns the alert that the peer sent, from an error code of the queue; -1 if it is not a
/// received alert.
static inline int copenssl_received_alert(unsigned long code) {
    int reason = ERR_GET_REASON(code);
    return ERR_GET_LIB(code) == ERR_LIB_SSL && reason > SSL_AD_REASON_OFFSET ? reason - SSL_AD_REASON_OFFSET : -1;
}

/// SSL_CTX_add1_chain_cert; 1 on success.
static inline int copenssl_add_chain_certificate(SSL_CTX *context, X509 *certificate) {
    return SSL_CTX_add1_chain_cert(context, certificate) == 1;
}

/// EVP_EC_gen, which is variadic.
static inline EVP_PKEY *copenssl_make_p256_key(void) { return EVP_EC_gen("P-256"); }

/// EVP_RSA_gen with 2,048 bits.
static inline EVP_PKEY *copenssl_make_rsa_key(void) { return EVP_RSA_gen(2048); }
