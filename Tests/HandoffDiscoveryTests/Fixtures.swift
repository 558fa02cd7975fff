import HandoffDiscovery
import LoopIO
import Testing

/// Creates data as reported by the kernel and Avahi.
enum Fixture {
    static let eth0: UInt32 = 2
    static let wlan0: UInt32 = 3
    static let lo: UInt32 = 1
    static let up: UInt32 = 0x1 | 0x40

    static func ip(_ text: String) throws -> IPAddress { try #require(IPAddress(text: text)) }

    static func local(_ interface: UInt32, _ text: String, _ prefixLength: Int) throws -> LocalAddress {
        LocalAddress(interface: interface, address: try ip(text), prefixLength: prefixLength)
    }

    /// lo, eth0 (10.0.0.1/24, fe80::1) and wlan0 (192.168.7.1/24).
    static func table() throws -> InterfaceTable {
        var table = InterfaceTable()
        table.apply(.link(index: lo, name: "lo", flags: up | 0x8))
        table.apply(.link(index: eth0, name: "eth0", flags: up))
        table.apply(.link(index: wlan0, name: "wlan0", flags: up))
        table.apply(.address(try local(lo, "127.0.0.1", 8), flags: 0))
        table.apply(.address(try local(eth0, "10.0.0.1", 24), flags: 0))
        table.apply(.address(try local(eth0, "fe80::1", 64), flags: 0))
        table.apply(.address(try local(wlan0, "192.168.7.1", 24), flags: 0))
        return table
    }

    static func link(_ interface: UInt32, isIPv6: Bool = false) -> RecordLink {
        RecordLink(interface: interface, isIPv6: isIPv6)
    }

    /// Returns the data of the PTR record of an instance.
    static func pointer(_ instance: String, type: String = "_handoff._tcp") throws -> [UInt8] {
        try #require(DomainName("\(instance).\(type).local")).wire
    }

    static func target(_ host: String, _ port: UInt16) throws -> [UInt8] {
        ServiceTarget(host: try #require(DomainName("\(host).local")), port: port).data
    }
}
