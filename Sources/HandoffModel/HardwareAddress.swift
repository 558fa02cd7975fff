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
        let bytes = parts.compactMap { Hex.decode(String($0)) }
        guard bytes.count == parts.count, bytes.allSatisfy({ $0.count == 1 }) else { return nil }
        self.init(bytes: bytes.flatMap(\.self))
    }

    /// The form that ``init(_:)`` reads, in lower case.
    package var text: String {
        bytes.map { Hex.encode([$0]) }.joined(separator: ":")
    }

    /// True if it is one that virtual routers take by their number, so that many networks have the same: VRRP and CARP
    /// (RFC 9568), HSRP and GLBP.
    package var isOfVirtualRouter: Bool {
        let prefixes: [[UInt8]] = [
            [0x00, 0x00, 0x5E, 0x00, 0x01], [0x00, 0x00, 0x5E, 0x00, 0x02],
            [0x00, 0x00, 0x0C, 0x07, 0xAC], [0x00, 0x05, 0x73, 0xA0], [0x00, 0x07, 0xB4, 0x00],
        ]
        // Of version 2 of HSRP the number begins in the middle of the fourth byte.
        let isHSRP2 = bytes.starts(with: [0x00, 0x00, 0x0C, 0x9F]) && bytes[4] & 0xF0 == 0xF0
        return isHSRP2 || prefixes.contains { bytes.starts(with: $0) }
    }
}
