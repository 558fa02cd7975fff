internal import COpenSSL

/// AES-256-GCM with a tag of 16 bytes (NIST SP 800-38D).
package enum AESGCM {
    /// Key size in bytes.
    package static let keyCount = 32
    /// Nonce size in bytes.
    package static let nonceCount = 12
    /// The number of bytes that sealing appends.
    package static let tagCount = 16
    /// A nonce of zeros, for keys that seal one message only.
    static let zeroNonce = [UInt8](repeating: 0, count: nonceCount)

    /// Encrypts and authenticates `plaintext`. Never use the same pair of key and nonce twice.
    ///
    /// - Parameter additionalData: bytes that are authenticated but not encrypted or included.
    /// - Returns: ciphertext as long as the plaintext, then the tag.
    package static func seal(
        _ plaintext: [UInt8], key: SecretBytes, nonce: [UInt8] = zeroNonce, additionalData: [UInt8]
    ) throws(CryptoError) -> [UInt8] {
        let total = plaintext.count + tagCount
        // Typed throws do not pass through these closures.
        var failure: CryptoError?
        let sealed = [UInt8](unsafeUninitializedCapacity: total) { output, initialized in
            let output = UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(output)[..<total])
            plaintext.withUnsafeBytes { input in
                do throws(CryptoError) {
                    try seal(input, into: output, key: key, nonce: nonce, additionalData: additionalData)
                } catch {
                    failure = error
                }
            }
            initialized = failure == nil ? total : 0
        }
        if let failure { throw failure }
        return sealed
    }

    /// Checks and decrypts the result of `seal`.
    ///
    /// - Returns: the plaintext, or nil if key, nonce, additional data, ciphertext or tag does not
    ///   match.
    package static func open(
        _ sealed: [UInt8], key: SecretBytes, nonce: [UInt8] = zeroNonce, additionalData: [UInt8]
    ) -> [UInt8]? {
        let count = sealed.count - tagCount
        guard count >= 0 else { return nil }
        var isGenuine = false
        let plaintext = [UInt8](unsafeUninitializedCapacity: count) { output, initialized in
            let output = UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(output)[..<count])
            sealed.withUnsafeBytes { input in
                do throws(CryptoError) {
                    try open(input, into: output, key: key, nonce: nonce, additionalData: additionalData)
                    isGenuine = true
                } catch {}  // a wrong length cannot be opened either
            }
            initialized = isGenuine ? count : 0
        }
        return isGenuine ? plaintext : nil
    }

    /// Writes ciphertext and tag of `plaintext` to `output`, which must have exactly the required
    /// size.
    static func seal(
        _ plaintext: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer, key: SecretBytes,
        nonce: [UInt8], additionalData: [UInt8]
    ) throws(CryptoError) {
        let context = try makeContext(key, nonce, isEncrypting: true)
        defer { EVP_CIPHER_CTX_free(context) }
        try authenticate(additionalData, context)
        guard let length = Int32(exactly: plaintext.count), output.count == plaintext.count + tagCount,
            let start = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
        else { throw .wrongLength(of: "plaintext", count: plaintext.count) }
        var written: Int32 = 0
        // An empty plaintext has no address, which OpenSSL would interpret as the final call.
        let isEncrypted =
            plaintext.isEmpty
            || EVP_EncryptUpdate(
                context, start, &written, plaintext.baseAddress?.assumingMemoryBound(to: UInt8.self), length) == 1
        guard isEncrypted, EVP_EncryptFinal_ex(context, start + plaintext.count, &written) == 1,
            EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, Int32(tagCount), start + plaintext.count) == 1
        else { throw .failed("EVP_EncryptUpdate") }
    }

    /// Writes the plaintext of `sealed` to `output`, which must have exactly the required size. If
    /// it throws, `output` is overwritten.
    static func open(
        _ sealed: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer, key: SecretBytes,
        nonce: [UInt8], additionalData: [UInt8]
    ) throws(CryptoError) {
        let count = sealed.count - tagCount
        guard count >= 0, count == output.count, let length = Int32(exactly: count) else {
            throw .wrongLength(of: "sealed bytes", count: sealed.count)
        }
        let context = try makeContext(key, nonce, isEncrypting: false)
        defer { EVP_CIPHER_CTX_free(context) }
        try authenticate(additionalData, context)
        var tag = Array(sealed[count...])
        var written: Int32 = 0
        var nothing: UInt8 = 0  // GCM writes nothing at the end, but requires a buffer
        let isDecrypted =
            count == 0
            || EVP_DecryptUpdate(
                context, output.baseAddress?.assumingMemoryBound(to: UInt8.self), &written,
                sealed.baseAddress?.assumingMemoryBound(to: UInt8.self), length) == 1
        guard isDecrypted, EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(tagCount), &tag) == 1,
            EVP_DecryptFinal_ex(context, &nothing, &written) == 1
        else {
            OPENSSL_cleanse(output.baseAddress, output.count)
            ERR_clear_error()
            throw .failed("EVP_DecryptFinal_ex")
        }
    }

    private static func makeContext(
        _ key: SecretBytes, _ nonce: [UInt8], isEncrypting: Bool
    ) throws(CryptoError) -> OpaquePointer {
        guard key.count == keyCount else { throw .wrongLength(of: "AES-256 key", count: key.count) }
        guard nonce.count == nonceCount else { throw .wrongLength(of: "GCM nonce", count: nonce.count) }
        guard let context = EVP_CIPHER_CTX_new() else { throw .failed("EVP_CIPHER_CTX_new") }
        let result = key.withUnsafeBytes { key in
            EVP_CipherInit_ex2(
                context, Algorithm.aes256GCM.pointer, key.baseAddress?.assumingMemoryBound(to: UInt8.self), nonce,
                isEncrypting ? 1 : 0, nil)
        }
        guard result == 1 else {
            EVP_CIPHER_CTX_free(context)
            throw .failed("EVP_CipherInit_ex2")
        }
        return context
    }

    private static func authenticate(_ data: [UInt8], _ context: OpaquePointer) throws(CryptoError) {
        guard !data.isEmpty else { return }
        var written: Int32 = 0
        guard let length = Int32(exactly: data.count) else { throw .wrongLength(of: "data", count: data.count) }
        guard EVP_CipherUpdate(context, nil, &written, data, length) == 1 else { throw .failed("EVP_CipherUpdate") }
    }
}

// Plaintexts that are secrets: they are never stored in an array.
extension AESGCM {
    /// Encrypts and authenticates a secret. Never use the same pair of key and nonce twice.
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

    /// Checks and decrypts the result of `seal`.
    ///
    /// - Parameters:
    ///   - range: the position of ciphertext and tag in `sealed`.
    /// - Returns: the plaintext, or nil if key, nonce, additional data, ciphertext or tag does not
    ///   match.
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
