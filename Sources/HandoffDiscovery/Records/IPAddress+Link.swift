package import LoopIO

/// Checks for addresses in received records.
extension IPAddress {
    /// False for addresses that cannot belong to one device: unspecified, multicast, broadcast and
    /// reserved addresses.
    package var isUnicast: Bool {
        isIPv4 ? bytes[0] != 0 && bytes[0] < 224 : bytes[0] != 0xff && !isUnspecified
    }

    /// Returns whether both have the same family and the same first `prefixLength` bits.
    package func matches(_ other: IPAddress, prefixLength: Int) -> Bool {
        guard bytes.count == other.bytes.count, (0...bytes.count * 8).contains(prefixLength) else { return false }
        let whole = prefixLength / 8
        guard bytes.prefix(whole) == other.bytes.prefix(whole) else { return false }
        guard prefixLength % 8 != 0 else { return true }
        let mask = UInt8(truncatingIfNeeded: 0xff00 >> (prefixLength % 8))
        return bytes[whole] & mask == other.bytes[whole] & mask
    }
}
