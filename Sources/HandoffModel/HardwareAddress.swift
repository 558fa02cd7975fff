/// A link-layer address with six bytes, as used by Ethernet and Wi-Fi.
package struct HardwareAddress: Hashable, Sendable {
    package static let byteCount = 6

    package let bytes: [UInt8]

    /// Returns nil for any other number of bytes, and for all zeros, which means no address.
    package init?(bytes: [UInt8]) {
        guard bytes.count == Self.byteCount, bytes.contains(where: { $0 != 0 }) else { return nil }
        self.bytes = bytes
    }

    /// Parses `52:54:00:12:34:56`, in either case.
    package init?(_ text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        let bytes = parts.compactMap { Hex.decode(String($0)) }
        guard bytes.count == parts.count, bytes.allSatisfy({ $0.count == 1 }) else { return nil }
        self.init(bytes: bytes.flatMap(\.self))
    }

    /// The address in the form that ``init(_:)`` parses, in lower case.
    package var text: String {
        bytes.map { Hex.encode([$0]) }.joined(separator: ":")
    }

    /// True if virtual routers derive this address from their number, so that many networks share
    /// it: VRRP and CARP (RFC 9568), HSRP and GLBP.
    package var isVirtualRouter: Bool {
        let prefixes: [[UInt8]] = [
            [0x00, 0x00, 0x5E, 0x00, 0x01], [0x00, 0x00, 0x5E, 0x00, 0x02],
            [0x00, 0x00, 0x0C, 0x07, 0xAC], [0x00, 0x05, 0x73, 0xA0], [0x00, 0x07, 0xB4, 0x00],
        ]
        // In HSRP version 2, the number starts in the middle of the fifth byte.
        let isHSRP2 = bytes.starts(with: [0x00, 0x00, 0x0C, 0x9F]) && bytes[4] & 0xF0 == 0xF0
        return isHSRP2 || prefixes.contains { bytes.starts(with: $0) }
    }
}
