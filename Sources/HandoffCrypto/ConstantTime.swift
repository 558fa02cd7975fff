internal import COpenSSL

/// Comparison that takes the same time wherever the difference is.
package enum ConstantTime {
    /// Whether both hold the same bytes; only the lengths may show in the time (`CRYPTO_memcmp`).
    package static func equal(_ a: [UInt8], _ b: [UInt8]) -> Bool {
        a.count == b.count && CRYPTO_memcmp(a, b, a.count) == 0
    }
}
