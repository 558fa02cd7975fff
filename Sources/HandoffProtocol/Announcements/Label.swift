import HandoffModel

/// The random name under which a device is discovered. Only members of its account recognise it.
///
/// The account target creates and recognises labels, which requires cryptography.
package struct Label: Hashable, Sendable {
    /// The number of bytes in a label: 8 random ones, and 8 that only members can compute.
    package static let byteCount = 16

    /// The bytes as sent in datagrams.
    package let bytes: [UInt8]

    /// Returns nil unless there are exactly 16 bytes.
    package init?(bytes: some Collection<UInt8>) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = Array(bytes)
    }

    /// Parses an mDNS instance name. Returns nil if the name is not one of Handoff's. Capitals are
    /// accepted because DNS ignores case.
    package init?(instanceName: String) {
        guard instanceName.utf8.count == 26, let bytes = Base32.decode(instanceName.lowercased()) else { return nil }
        self.init(bytes: bytes)
    }

    /// The mDNS instance name: 26 characters of base32 (RFC 4648, lower case, unpadded).
    package var instanceName: String {
        Base32.encode(bytes)
    }
}
