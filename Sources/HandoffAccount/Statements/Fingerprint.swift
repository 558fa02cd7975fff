package import HandoffCrypto
package import HandoffModel

/// A SHA-256 value that names one thing of an account: a statement, a device, or a ticket.
///
/// Devices and tickets are hashed from different inputs, so that one key can never stand for both. Kept as four words,
/// since rosters sort and look up thousands of these.
package struct Fingerprint: FixedBytes {
    package static let byteCount = 32

    private let words: (UInt64, UInt64, UInt64, UInt64)

    package init(checked bytes: [UInt8]) {
        func word(_ index: Int) -> UInt64 {
            bytes.dropFirst(index * 8).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
        }
        words = (word(0), word(1), word(2), word(3))
    }

    package var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.byteCount)
        append(to: &bytes)
        return bytes
    }

    /// Appends the 32 bytes.
    func append(to bytes: inout [UInt8]) {
        for word in [words.0, words.1, words.2, words.3] {
            for shift in stride(from: UInt64(56), through: 0, by: -8) {
                bytes.append(UInt8(truncatingIfNeeded: word >> shift))
            }
        }
    }

    /// What a device is called where a ticket could stand too.
    package init(_ device: DeviceID) {
        self.init(checked: device.bytes)
    }

    /// The SHA-256 of `bytes`.
    package init(hashing bytes: [UInt8]) {
        self.init(checked: SHA256.hash(bytes))
    }

    /// The id of a ticket: `SHA-256("handoff/1 ticket" || key)`.
    package init(ticket key: PublicKey) {
        self.init(hashing: Array("handoff/1 ticket".utf8) + key.raw)
    }

    /// The device of this name, if it is one; only the roster knows.
    var device: DeviceID {
        DeviceID(checked: bytes)
    }

    package static func == (left: Fingerprint, right: Fingerprint) -> Bool {
        left.words == right.words
    }

    /// In the order of the bytes.
    package static func < (left: Fingerprint, right: Fingerprint) -> Bool {
        left.words < right.words
    }

    package func hash(into hasher: inout Hasher) {
        // All four: removals name subjects that are chosen, not hashed, and could be made to collide.
        hasher.combine(words.0)
        hasher.combine(words.1)
        hasher.combine(words.2)
        hasher.combine(words.3)
    }
}

extension DeviceID {
    /// The id of the device that owns `key`: SHA-256 of its subject public key info (RFC 8410).
    package init(_ key: PublicKey) {
        self.init(checked: SHA256.hash(key.subjectPublicKeyInfo))
    }
}

extension AccountID {
    /// The id of the account that the owner of `founder` made with `nonce`.
    package init(founder: PublicKey, nonce: [UInt8]) {
        let hash = SHA256.hash(Array("handoff/1 account".utf8) + founder.raw + nonce)
        self.init(checked: Array(hash.prefix(Self.byteCount)))
    }
}
