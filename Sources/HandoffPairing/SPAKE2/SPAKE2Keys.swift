package import HandoffCrypto

/// What follows from a SPAKE2 exchange: the key, and how each side proves that it has it (RFC 9382 section 4).
package struct SPAKE2Keys: Sendable {
    /// `Ke`, 16 bytes: the shared key, once the other side has confirmed.
    package let sharedKey: SecretBytes
    /// What proves this side to the other, 32 bytes: `cA` or `cB`.
    package let confirmation: [UInt8]
    /// What the other side has to send.
    private let expected: [UInt8]

    /// Bytes of a confirmation.
    package static let confirmationCount = HMACSHA256.byteCount
    /// Bytes of each of Ke, Ka, KcA and KcB.
    private static let keyCount = 16

    init(role: SPAKE2Role, transcript: SecretBytes, identities: SPAKE2Identities) throws(CryptoError) {
        var hash = SHA256.hash(transcript)
        sharedKey = SecretBytes(copying: hash.prefix(Self.keyCount))
        let authentication = SecretBytes(copying: hash.suffix(Self.keyCount))
        SecretBytes.wipe(&hash)
        let info = Array("ConfirmationKeys".utf8) + identities.additionalData
        var both = try HKDF.derive(authentication, salt: [], info: info, count: 2 * Self.keyCount).exposedCopy()
        let keyA = SecretBytes(copying: both.prefix(Self.keyCount))
        let keyB = SecretBytes(copying: both.suffix(Self.keyCount))
        SecretBytes.wipe(&both)
        let ofA = HMACSHA256.authenticate(transcript, key: keyA)
        let ofB = HMACSHA256.authenticate(transcript, key: keyB)
        (confirmation, expected) = role == .a ? (ofA, ofB) : (ofB, ofA)
    }

    /// Whether the other side has the same keys; compares in constant time, and takes no part of a confirmation.
    package func isConfirmed(by confirmation: [UInt8]) -> Bool {
        ConstantTime.equal(confirmation, expected)
    }
}

extension SPAKE2Keys: CustomStringConvertible, CustomReflectable {
    package var description: String { "<secret keys>" }
    /// Empty, so that nothing shows what the other side has to send.
    package var customMirror: Mirror { Mirror(self, children: []) }
}
