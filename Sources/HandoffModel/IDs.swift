/// An account: the beginning of the hash of its founder's key and a nonce.
package struct AccountID: FixedBytes {
    package static let byteCount = 16

    package let bytes: [UInt8]

    package init(checked bytes: [UInt8]) {
        self.bytes = bytes
    }
}

/// A device: SHA-256 of the subject public key info of its Ed25519 key.
package struct DeviceID: FixedBytes {
    package static let byteCount = 32

    package let bytes: [UInt8]

    package init(checked bytes: [UInt8]) {
        self.bytes = bytes
    }
}

/// An activity, from publication to withdrawal: random, never used again.
package struct ActivityID: FixedBytes {
    package static let byteCount = 16

    package let bytes: [UInt8]

    package init(checked bytes: [UInt8]) {
        self.bytes = bytes
    }
}

/// One continuation, on the receiving device: random.
package struct ContinuationID: FixedBytes {
    package static let byteCount = 16

    package let bytes: [UInt8]

    package init(checked bytes: [UInt8]) {
        self.bytes = bytes
    }
}

/// One stream between the apps of a continuation, as this device calls it: random, and unknown to the other device.
package struct StreamID: FixedBytes {
    package static let byteCount = 16

    package let bytes: [UInt8]

    package init(checked bytes: [UInt8]) {
        self.bytes = bytes
    }
}

/// What a continuation stream is for, when it is not the apps' own: a name that the app which opens it and the app which
/// takes it agree on, such as `document/3`. Means nothing to the daemons.
package struct StreamResource: Hashable, Sendable, TextValue {
    /// The longest name, in bytes.
    package static let maxByteCount = 128

    /// The name.
    package let text: String

    /// Nil unless it is 1 to 128 characters of ASCII that can be seen, without a space.
    package init?(_ text: String) {
        guard (1...Self.maxByteCount).contains(text.utf8.count) else { return nil }
        guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { return nil }
        self.text = text
    }

    package var description: String { text }
}
