#pragma once
#include <nettle/sha2.h>

// Nettle renames its functions by macros without arguments, which Swift does not import.

/// Initialises a context for a new message.
static inline void cnettle_sha256_init(struct sha256_ctx *context) { nettle_sha256_init(context); }

/// Adds bytes to the message.
static inline void cnettle_sha256_update(struct sha256_ctx *context, size_t length, const uint8_t *bytes) {
    nettle_sha256_update(context, length, bytes);
}

/// Writes the 32 bytes of the digest, and resets the context for a new message.
static inline void cnettle_sha256_digest(struct sha256_ctx *context, uint8_t *digest) {
    nettle_sha256_digest(context, SHA256_DIGEST_SIZE, digest);
}
