/// Where connections are counted together: an IPv4 address, a link-local IPv6 address, or a /64 of other IPv6 addresses,
/// of which one device has as many as it likes.
package struct PairingSource: Hashable, Sendable {
    private let bytes: [UInt8]

    /// The source of a host of 4 or 16 bytes in network order.
    package init(host: [UInt8]) {
        let isLinkLocal = host.first == 0xFE && host.dropFirst().first.map { $0 & 0xC0 == 0x80 } == true
        bytes = host.count == 16 && !isLinkLocal ? Array(host.prefix(8)) : host
    }
}
