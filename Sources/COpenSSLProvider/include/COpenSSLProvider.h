// OpenSSL's default provider, with only some of its key decoders.
#pragma once

/// Loads OpenSSL's default provider into the default library context, without the key decoders of
/// algorithms other than Ed25519; returns 1 on success. On failure the library uses its complete
/// default provider.
///
/// For each certificate that it reads, two per handshake, OpenSSL 3.0 constructs about forty
/// decoders before it checks which of them fits. Call this once, before any other use of the
/// library that fetches an algorithm.
int copenssl_load_provider(void);
