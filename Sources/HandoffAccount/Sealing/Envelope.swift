import HandoffCrypto

/// A salt, followed by a plaintext sealed with a key derived for that salt.
///
/// The salt is random, so each key seals only one message and the nonce can be zero.
struct Envelope {
    /// Size of the leading salt in bytes.
    static let saltCount = 16

    /// Number of bytes that sealing adds to the plaintext: salt and tag.
    static let overhead = saltCount + AESGCM.tagCount

    /// The purpose of the derived key.
    let purpose: String

    /// The sub-key of the epoch from which keys are derived.
    let key: SecretBytes

    /// `salt || AES-256-GCM(HKDF(key, salt), nonce 0)`.
    func seal(_ plaintext: [UInt8], salt: [UInt8], additionalData: [UInt8]) throws(CryptoError) -> [UInt8] {
        precondition(salt.count == Self.saltCount, "a salt of \(salt.count) bytes")
        let derived = try derive(salt)
        return salt + (try AESGCM.seal(plaintext, key: derived, additionalData: additionalData))
    }

    /// The plaintext under the first of several additional data that authenticates, or nil if none
    /// does.
    func open(_ sealed: ArraySlice<UInt8>, additionalData candidates: [[UInt8]]) -> [UInt8]? {
        guard sealed.count >= Self.overhead else { return nil }
        // Derivation fails only if memory allocation does. The message is then lost like any
        // datagram.
        guard let derived = try? derive(Array(sealed.prefix(Self.saltCount))) else { return nil }
        let ciphertext = Array(sealed.dropFirst(Self.saltCount))
        for data in candidates {
            if let plaintext = AESGCM.open(ciphertext, key: derived, additionalData: data) { return plaintext }
        }
        return nil
    }

    private func derive(_ salt: [UInt8]) throws(CryptoError) -> SecretBytes {
        try HKDF.derive(key, salt: salt, info: Array(purpose.utf8))
    }
}

/// Why bytes from the network are not a beacon, advert or acknowledgement for us, in the order of
/// the checks.
///
/// The bytes are dropped without a reply, and the reason is counted for `doctor`.
package enum SealError: Error, Equatable, Sendable, CaseIterable {
    /// The size or the version is invalid.
    case shape

    /// The sender's label does not belong to this account and epoch.
    case foreignLabel

    /// It was not sealed with our key, for us and under this label, or it was modified in transit.
    case notGenuine

    /// The layout of the plaintext is invalid, so the member runs a faulty program.
    case malformed

    /// The device is not live in our roster.
    case unknownDevice

    /// The device did not sign this under this label.
    case wrongSignature
}
