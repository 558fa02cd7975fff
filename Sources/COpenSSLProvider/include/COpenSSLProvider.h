// OpenSSL's default provider, with few of its decoders of keys.
#pragma once

/// Loads OpenSSL's default provider into the default library context, without the decoders of keys of any algorithm but Ed25519;
/// 1 on success. On failure the library has its default provider, whole.
///
/// OpenSSL 3.0 constructs some forty decoders for each certificate that it reads, two in each handshake, before it looks which of them
/// fits. Call it once, before any other use of the library that fetches an algorithm.
int copenssl_load_provider(void);
