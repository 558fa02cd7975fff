package import HandoffCrypto
package import HandoffModel

/// A SHA-256 value that names one thing of an account: a statement, a device, or a ticket.
///
/// Devices and tickets are hashed from different inputs, so that one key can never stand for both.
package struct Fingerprint: FixedBytes {
    package static let byteCount = 32

    package let bytes: [UInt8]

    package init(checked bytes: [UInt8]) {
        self.bytes = bytes
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
