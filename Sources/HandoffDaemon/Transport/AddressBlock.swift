package import LoopIO

/// Where connections are counted together: an IPv4 address, or the first half of an IPv6 address with its link, since a
/// host has a whole network of 64 bits to itself.
package struct AddressBlock: Hashable, Sendable {
    /// 4 or 8 bytes.
    package let bytes: [UInt8]
    private let scope: UInt32

    /// The block of an address.
    package init(_ address: IPAddress) {
        bytes = address.isIPv4 ? address.bytes : Array(address.bytes.prefix(8))
        scope = address.scope
    }
}
