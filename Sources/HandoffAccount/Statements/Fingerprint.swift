package import HandoffCrypto
package import HandoffModel

/// A SHA-256 value that identifies a statement, device or ticket of an account.
///
/// Devices and tickets are hashed from different inputs, so one key cannot represent both. Stored
/// as four words, because rosters sort and look up thousands of fingerprints.
package struct Fingerprint: FixedBytes {
    package static let byteCount = 32

    // Four properties instead of a tuple or an array: comparing and copying take most of the time.
    private let first: UInt64
    private let second: UInt64
    private let third: UInt64
    private let fourth: UInt64

    package init(checked bytes: [UInt8]) {
        func word(_ start: Int) -> UInt64 {
            var word: UInt64 = 0
            var index = start
            while index < start &+ 8, index < bytes.count {
                word = word &<< 8 | UInt64(bytes[index])
                index &+= 1
            }
            return word
        }
        first = word(0)
        second = word(8)
        third = word(16)
        fourth = word(24)
    }

    package var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.byteCount)
        append(to: &bytes)
        return bytes
    }

    /// Appends the 32 bytes.
    func append(to bytes: inout [UInt8]) {
        func append(_ word: UInt64) {
            var shift: UInt64 = 64
            while shift > 0 {
                shift &-= 8
                bytes.append(UInt8(truncatingIfNeeded: word &>> shift))
            }
        }
        append(first)
        append(second)
        append(third)
        append(fourth)
    }

    /// The id of a device where a ticket is also possible.
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

    /// The device with this id, if it is one; only the roster knows.
    var device: DeviceID {
        DeviceID(checked: bytes)
    }

    /// Orders fingerprints by their bytes.
    package static func < (left: Fingerprint, right: Fingerprint) -> Bool {
        if left.first != right.first { return left.first < right.first }
        if left.second != right.second { return left.second < right.second }
        if left.third != right.third { return left.third < right.third }
        return left.fourth < right.fourth
    }
}

extension DeviceID {
    /// The id of the device that owns `key`: SHA-256 of its subject public key info (RFC 8410).
    package init(_ key: PublicKey) {
        self.init(checked: SHA256.hash(key.subjectPublicKeyInfo))
    }
}

extension AccountID {
    /// The id of the account that the owner of `founder` created with `nonce`.
    package init(founder: PublicKey, nonce: [UInt8]) {
        let hash = SHA256.hash(Array("handoff/1 account".utf8) + founder.raw + nonce)
        self.init(checked: Array(hash.prefix(Self.byteCount)))
    }
}
