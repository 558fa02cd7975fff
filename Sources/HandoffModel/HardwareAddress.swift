/// An address of a link's layer with six bytes, as of Ethernet and WLAN.
package struct HardwareAddress: Hashable, Sendable {
    /// Bytes of an address.
    package static let byteCount = 6

    /// Its bytes.
    package let bytes: [UInt8]

    /// Nil for another number of bytes, and for zeros alone, which stand for none.
    package init?(bytes: [UInt8]) {
        guard bytes.count == Self.byteCount, bytes.contains(where: { $0 != 0 }) else { return nil }
        self.bytes = bytes
    }

    /// Reads `52:54:00:12:34:56`, in either case.
    package init?(_ text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.allSatisfy({ $0.utf8.count == 2 }) else { return nil }
        let bytes = parts.compactMap { UInt8($0, radix: 16) }
        guard bytes.count == parts.count else { return nil }
        self.init(bytes: bytes)
    }

    /// The form that ``init(_:)`` reads, in lower case.
    package var text: String {
        bytes.map { Hex.encode([$0]) }.joined(separator: ":")
    }
}
