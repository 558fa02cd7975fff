internal import COpenSSL

// Plaintexts that are secrets themselves: they are never in an array.
extension AESGCM {
    /// Encrypts and authenticates a secret; a pair of key and nonce must never seal twice.
    ///
    /// - Parameter additionalData: bytes that are authenticated but not encrypted or included.
    /// - Returns: ciphertext as long as the plaintext, then the tag.
    package static func seal(
        _ plaintext: SecretBytes, key: SecretBytes, nonce: [UInt8] = zeroNonce, additionalData: [UInt8]
    ) throws(CryptoError) -> SecretBytes {
        try SecretBytes(count: plaintext.count + tagCount) {
            (output: UnsafeMutableRawBufferPointer) throws(CryptoError) in
            try plaintext.withUnsafeBytes { (input: UnsafeRawBufferPointer) throws(CryptoError) in
                try seal(input, into: output, key: key, nonce: nonce, additionalData: additionalData)
            }
        }
    }

    /// Checks and decrypts what `seal` made.
    ///
    /// - Parameters:
    ///   - range: where in `sealed` ciphertext and tag are.
    /// - Returns: the plaintext, or `nil` if key, nonce, additional data, ciphertext or tag is not the one of sealing.
    package static func open(
        _ sealed: SecretBytes, in range: Range<Int>, key: SecretBytes, nonce: [UInt8] = zeroNonce,
        additionalData: [UInt8]
    ) -> SecretBytes? {
        let count = range.count - tagCount
        guard count >= 0, range.lowerBound >= 0, range.upperBound <= sealed.count else { return nil }
        return try? SecretBytes(count: count) { (output: UnsafeMutableRawBufferPointer) throws(CryptoError) in
            try sealed.withUnsafeBytes { (input: UnsafeRawBufferPointer) throws(CryptoError) in
                try open(
                    UnsafeRawBufferPointer(rebasing: input[range]), into: output, key: key, nonce: nonce,
                    additionalData: additionalData)
            }
        }
    }
}
