internal import COpenSSL

/// A secret number from 0 up to the order of P-256 (FIPS 186-4 D.1.2.3), overwritten when the last reference goes.
///
/// Proof for `@unchecked`: the number is finished in the initialisers and only read afterwards.
package final class P256Scalar: @unchecked Sendable {
    /// Bytes of the big-endian form.
    package static let byteCount = 32

    /// OpenSSL's number, of constant width and marked for its constant-time paths (BN_FLG_CONSTTIME).
    let number: OpaquePointer

    /// Takes over `number`.
    private init(owning number: OpaquePointer) {
        BN_set_flags(number, BN_FLG_CONSTTIME)
        self.number = number
    }

    deinit {
        BN_clear_free(number)
    }

    /// A uniformly random number from 1 to the order less 1 (`BN_priv_rand_range`).
    package convenience init() throws(CryptoError) {
        guard let number = BN_new() else { throw .failed("BN_new") }
        repeat {
            guard BN_priv_rand_range(number, P256.order) == 1 else {
                BN_clear_free(number)
                throw .failed("BN_priv_rand_range")
            }
        } while BN_is_zero(number) == 1
        self.init(owning: number)
    }

    /// The big-endian number in `bytes` modulo the order (`BN_nnmod`); `nil` when that is 0.
    ///
    /// For a uniform result the bytes are at least 16 longer than the order's 32 (RFC 9382 section 3.2).
    package convenience init?(reducing bytes: SecretBytes) throws(CryptoError) {
        OpenSSL.start()
        guard let context = BN_CTX_new() else { throw .failed("BN_CTX_new") }
        defer { BN_CTX_free(context) }
        let wide = bytes.withUnsafeBytes { bytes in
            BN_bin2bn(bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), Int32(clamping: bytes.count), nil)
        }
        guard let wide else { throw .failed("BN_bin2bn") }
        defer { BN_clear_free(wide) }
        BN_set_flags(wide, BN_FLG_CONSTTIME)
        guard let number = BN_new() else { throw .failed("BN_new") }
        guard BN_nnmod(number, wide, P256.order, context) == 1 else {
            BN_clear_free(number)
            throw .failed("BN_nnmod")
        }
        guard BN_is_zero(number) == 0 else {
            BN_clear_free(number)
            return nil
        }
        self.init(owning: number)
    }

    /// The number as 32 bytes, big-endian (`BN_bn2binpad`).
    package var bytes: SecretBytes {
        SecretBytes(count: Self.byteCount) { buffer in
            let count = Int32(clamping: buffer.count)
            let written = BN_bn2binpad(number, buffer.baseAddress?.assumingMemoryBound(to: UInt8.self), count)
            precondition(written == count, "a number below the order has 32 bytes")
        }
    }
}

extension P256Scalar: CustomStringConvertible, CustomReflectable {
    package var description: String { "<secret scalar>" }
    /// Empty, so that `dump` and test failures show nothing.
    package var customMirror: Mirror { Mirror(self, children: []) }
}
