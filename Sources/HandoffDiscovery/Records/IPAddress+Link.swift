package import LoopIO

/// What decides whether an address that a record tells is worth a try.
extension IPAddress {
    /// False for what can never be one device: unspecified, multicast, broadcast and reserved addresses.
    package var isUnicast: Bool {
        isIPv4 ? bytes[0] != 0 && bytes[0] < 224 : bytes[0] != 0xff && !isUnspecified
    }

    /// Whether both are of one family and equal in their first `prefixLength` bits.
    package func matches(_ other: IPAddress, prefixLength: Int) -> Bool {
        guard bytes.count == other.bytes.count, (0...bytes.count * 8).contains(prefixLength) else { return false }
        let whole = prefixLength / 8
        guard bytes.prefix(whole) == other.bytes.prefix(whole) else { return false }
        guard prefixLength % 8 != 0 else { return true }
        let mask = UInt8(truncatingIfNeeded: 0xff00 >> (prefixLength % 8))
        return bytes[whole] & mask == other.bytes[whole] & mask
    }
}
