import HandoffDiscovery
import Testing

struct InterfaceTableTests {
    @Test func `lists usable addresses in a stable order`() throws {
        let table = try Fixture.table()
        #expect(
            table.usable == [
                try Fixture.local(1, "127.0.0.1", 8), try Fixture.local(2, "10.0.0.1", 24),
                try Fixture.local(2, "fe80::1", 64), try Fixture.local(3, "192.168.7.1", 24),
            ])
    }

    @Test(arguments: [0x40, 0x08, 0x20, 0x40 | 0x80] as [UInt32])
    func `omits tentative, failed and deprecated addresses`(_ flags: UInt32) throws {
        var table = try Fixture.table()
        let address = try Fixture.local(2, "fd00::1", 64)
        table.apply(.address(address, flags: flags))
        #expect(!table.usable.contains(address))
        table.apply(.address(address, flags: 0x80))
        #expect(table.usable.contains(address))
        table.apply(.addressGone(address))
        #expect(!table.usable.contains(address))
    }

    @Test func `omits links that are down or without a carrier`() throws {
        var table = try Fixture.table()
        table.apply(.link(index: 2, name: "eth0", flags: 0x1))
        #expect(!table.usable.contains { $0.interface == 2 })
        table.apply(.link(index: 2, name: "eth0", flags: Fixture.up))
        #expect(table.usable.contains { $0.interface == 2 })
        table.apply(.linkGone(index: 2))
        #expect(!table.usable.contains { $0.interface == 2 })
        #expect(table.index(of: "eth0") == nil)
    }

    @Test(
        arguments: [
            ("10.0.0.77", 2, true),  // on-link
            ("10.9.9.9", 2, true),  // private
            ("8.8.8.8", 2, false),  // remote
            ("fe80::77", 2, true), ("fe80::77", 3, true), ("169.254.1.1", 2, true), ("fd00::1", 2, true),
            ("2001:db8::1", 2, false), ("127.0.0.1", 2, false), ("::1", 2, false), ("127.0.0.1", 1, true),
            ("::1", 1, true),
            ("10.0.0.77", 1, false), ("224.0.0.1", 2, false), ("0.0.0.0", 2, false), ("10.0.0.77", 9, false),
        ] as [(String, UInt32, Bool)])
    func `accepts only nearby addresses`(_ text: String, _ interface: UInt32, _ expected: Bool) throws {
        #expect(try Fixture.table().accepts(try Fixture.ip(text), on: interface) == expected)
    }

    @Test func `accepts global addresses that are on link`() throws {
        var table = try Fixture.table()
        table.apply(.address(try Fixture.local(2, "2001:db8:1::1", 64), flags: 0))
        #expect(table.accepts(try Fixture.ip("2001:db8:1::99"), on: 2))
        #expect(!table.accepts(try Fixture.ip("2001:db8:1::99"), on: 3))
        // A prefix of length 0 makes no address on-link.
        table.apply(.address(try Fixture.local(3, "9.9.9.9", 0), flags: 0))
        #expect(!table.accepts(try Fixture.ip("8.8.8.8"), on: 3))
    }
}
