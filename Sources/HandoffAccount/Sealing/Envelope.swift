import HandoffCrypto

/// A salt, and a plaintext sealed with a key that is derived for this salt alone.
///
/// The salt is random, so that a key seals one message only and the nonce can be zero.
struct Envelope {
    /// Bytes of the salt in front.
    static let saltCount = 16

    /// Bytes that sealing adds to the plaintext: salt and tag.
    static let overhead = saltCount + AESGCM.tagCount

    /// Says what the derived key is for.
    let purpose: String

    /// The sub-key of the epoch that keys are derived from.
    let key: SecretBytes

    /// `salt || AES-256-GCM(HKDF(key, salt), nonce 0)`.
    func seal(_ plaintext: [UInt8], salt: [UInt8], additionalData: [UInt8]) throws(CryptoError) -> [UInt8] {
        precondition(salt.count == Self.saltCount, "a salt of \(salt.count) bytes")
        let derived = try derive(salt)
        return salt + (try AESGCM.seal(plaintext, key: derived, additionalData: additionalData))
    }

    /// The plaintext under the first of several additional data that fit; nil when none does.
    func open(_ sealed: ArraySlice<UInt8>, additionalData candidates: [[UInt8]]) -> [UInt8]? {
        guard sealed.count >= Self.overhead else { return nil }
        // Derivation fails only when memory does; then the message is lost like any datagram.
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

/// Why bytes from the network are not a beacon, advert or acknowledgement for us, in the order of the checks.
///
/// Nobody is told: the bytes are dropped, and the reason is counted for `doctor`.
package enum SealError: Error, Equatable, Sendable, CaseIterable {
    /// The size or the version is none of ours.
    case shape

    /// The sender's label is not of this account and epoch.
    case foreignLabel

    /// It was not sealed with our key, for us, under this label, or was changed on the way.
    case notGenuine

    /// The plaintext is not laid out as it should be: a member with a broken program.
    case malformed

    /// The device is not live in our roster.
    case unknownDevice

    /// The device did not sign this, or not under this label.
    case wrongSignature
}
