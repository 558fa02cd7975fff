/// The identifier of an account: a prefix of the hash of its founder's key and a nonce.
package struct AccountID: FixedBytes {
    package static let byteCount = 16

    package let bytes: [UInt8]

    package init(checked bytes: [UInt8]) {
        self.bytes = bytes
    }
}

/// The identifier of a device: SHA-256 of the subject public key info of its Ed25519 key.
package struct DeviceID: FixedBytes {
    package static let byteCount = 32

    package let bytes: [UInt8]

    package init(checked bytes: [UInt8]) {
        self.bytes = bytes
    }
}

/// The identifier of an activity from publication to withdrawal: random, never reused.
package struct ActivityID: FixedBytes {
    package static let byteCount = 16

    package let bytes: [UInt8]

    package init(checked bytes: [UInt8]) {
        self.bytes = bytes
    }
}

/// The random identifier of one continuation, on the receiving device.
package struct ContinuationID: FixedBytes {
    package static let byteCount = 16

    package let bytes: [UInt8]

    package init(checked bytes: [UInt8]) {
        self.bytes = bytes
    }
}

/// The random identifier of one stream between the apps of a continuation. It is local to this
/// device and unknown to the other device.
package struct StreamID: FixedBytes {
    package static let byteCount = 16

    package let bytes: [UInt8]

    package init(checked bytes: [UInt8]) {
        self.bytes = bytes
    }
}

/// The purpose of a continuation stream that the apps' own protocol does not define: a name that
/// both apps agree on, such as `document/3`. It has no meaning to the daemons.
package struct StreamResource: Hashable, Sendable, TextValue {
    /// The maximum length of a name, in bytes.
    package static let maxByteCount = 128

    package let text: String

    /// Returns nil unless the text is 1 to 128 visible ASCII characters without a space.
    package init?(_ text: String) {
        guard (1...Self.maxByteCount).contains(text.utf8.count) else { return nil }
        guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { return nil }
        self.text = text
    }

    package var description: String { text }
}
