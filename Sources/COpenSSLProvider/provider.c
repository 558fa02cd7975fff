#include "COpenSSLProvider.h"

#include <openssl/core_dispatch.h>
#include <openssl/crypto.h>
#include <openssl/provider.h>
#include <string.h>

// A provider that wraps the default provider, as in OpenSSL's own tests (test/filterprov.c). The
// default provider is loaded into a separate library context.
static OSSL_LIB_CTX *inner_context;
static OSSL_PROVIDER *inner;
// The offered decoders of the inner provider, and the entry without a name that ends the list.
static OSSL_ALGORITHM decoders[17];

/// Returns 1 if the name is one of the algorithm's names ("ED25519:1.3.101.112").
static int is_called(const OSSL_ALGORITHM *algorithm, const char *name) {
    size_t count = strlen(name);
    const char *names = algorithm->algorithm_names;
    return strncmp(names, name, count) == 0 && (names[count] == 0 || names[count] == ':');
}

static void choose_decoders(void) {
    int no_cache = 0;
    const OSSL_ALGORITHM *all = OSSL_PROVIDER_query_operation(inner, OSSL_OP_DECODER, &no_cache);
    size_t limit = sizeof decoders / sizeof *decoders - 1;
    size_t chosen = 0;
    for (; all && all->algorithm_names && chosen < limit; all++)
        if (is_called(all, "ED25519")) decoders[chosen++] = *all;
}

static const OSSL_ALGORITHM *query(void *context, int operation, int *no_cache) {
    (void)context;
    const OSSL_ALGORITHM *all = OSSL_PROVIDER_query_operation(inner, operation, no_cache);
    return operation == OSSL_OP_DECODER ? decoders : all;
}

static void unquery(void *context, int operation, const OSSL_ALGORITHM *algorithms) {
    (void)context;
    if (operation != OSSL_OP_DECODER) OSSL_PROVIDER_unquery_operation(inner, operation, algorithms);
}

static int capabilities(void *context, const char *name, OSSL_CALLBACK *take, void *argument) {
    (void)context;
    return OSSL_PROVIDER_get_capabilities(inner, name, take, argument);
}

static void close_inner(void *context) {
    (void)context;
    OSSL_PROVIDER_unload(inner);
    OSSL_LIB_CTX_free(inner_context);
    inner = NULL;
    inner_context = NULL;
}

static const OSSL_DISPATCH functions[] = {
    {OSSL_FUNC_PROVIDER_TEARDOWN, (void (*)(void))close_inner},
    {OSSL_FUNC_PROVIDER_QUERY_OPERATION, (void (*)(void))query},
    {OSSL_FUNC_PROVIDER_UNQUERY_OPERATION, (void (*)(void))unquery},
    {OSSL_FUNC_PROVIDER_GET_CAPABILITIES, (void (*)(void))capabilities},
    {0, NULL},
};

/// OSSL_provider_init: passes the inner provider's context to the algorithms, which belong to it.
static int open_inner(
    const OSSL_CORE_HANDLE *core, const OSSL_DISPATCH *offered, const OSSL_DISPATCH **provided, void **context) {
    (void)core;
    (void)offered;
    inner_context = OSSL_LIB_CTX_new();
    inner = inner_context ? OSSL_PROVIDER_load(inner_context, "default") : NULL;
    if (!inner) {
        OSSL_LIB_CTX_free(inner_context);
        inner_context = NULL;
        return 0;
    }
    choose_decoders();
    *provided = functions;
    *context = OSSL_PROVIDER_get0_provider_ctx(inner);
    return 1;
}

int copenssl_load_provider(void) {
    if (OSSL_PROVIDER_add_builtin(NULL, "handoff", open_inner) == 1 && OSSL_PROVIDER_load(NULL, "handoff")) return 1;
    OSSL_PROVIDER_load(NULL, "default");
    return 0;
}
