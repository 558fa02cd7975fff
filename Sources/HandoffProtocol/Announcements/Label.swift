import HandoffModel

/// The random name under which a device is found; only members of its account recognise it as one of theirs.
///
/// How it is made and recognised is part of the cryptography, in the account's target.
package struct Label: Hashable, Sendable {
    /// Bytes of a label: 8 random, 8 that only members can make.
    package static let byteCount = 16

    /// The bytes as they stand in datagrams.
    package let bytes: [UInt8]

    /// Nil unless there are exactly 16 bytes.
    package init?(bytes: some Collection<UInt8>) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = Array(bytes)
    }

    /// The label in an mDNS instance name; nil when the name is none of Handoff's. Capitals are accepted, since DNS
    /// does not tell them apart.
    package init?(instanceName: String) {
        guard instanceName.utf8.count == 26, let bytes = Base32.decode(instanceName.lowercased()) else { return nil }
        self.init(bytes: bytes)
    }

    /// The mDNS instance name: 26 characters of base32 (RFC 4648, lower case, unpadded).
    package var instanceName: String {
        Base32.encode(bytes)
    }
}
