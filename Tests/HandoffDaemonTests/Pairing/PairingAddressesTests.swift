import HandoffDaemon
import HandoffDiscovery
import LoopIO
import Testing

@Suite struct PairingAddressesTests {
    private func table(_ addresses: [(UInt32, String)]) throws -> InterfaceTable {
        var table = InterfaceTable()
        table.apply(.link(index: 1, name: "lo", flags: 0x49))
        table.apply(.link(index: 2, name: "eth0", flags: 0x41))
        table.apply(.link(index: 3, name: "wlan0", flags: 0x41))
        for (interface, text) in addresses {
            let address = try #require(IPAddress(text: text))
            table.apply(
                .address(LocalAddress(interface: interface, address: address, prefixLength: 24), flags: 0))
        }
        return table
    }

    private func texts(
        _ table: InterfaceTable, only: String? = nil, interfaces: [String] = []
    ) -> [String] {
        PairingAddresses(only: only.flatMap { IPAddress(text: $0) }, interfaces: interfaces).reachable(in: table)
            .map(\.description)
    }

    @Test func `the likeliest address is first`() throws {
        let table = try table([
            (1, "127.0.0.1"), (1, "::1"), (2, "203.0.113.5"), (2, "2001:db8::5"), (2, "fe80::5"), (2, "fd00::5"),
            (3, "192.168.1.5"), (3, "169.254.7.7"),
        ])
        #expect(
            texts(table) == ["192.168.1.5", "169.254.7.7", "203.0.113.5", "fd00::5", "2001:db8::5"])
    }

    @Test func `loopback stays on loopback`() throws {
        let table = try table([(1, "127.0.0.1"), (2, "192.168.1.5")])
        #expect(texts(table, interfaces: ["lo"]) == ["127.0.0.1"])
        #expect(texts(table, only: "127.0.0.1") == ["127.0.0.1"])
        #expect(texts(table, interfaces: ["wlan0"]).isEmpty)
        #expect(texts(table, interfaces: ["eth0"]) == ["192.168.1.5"])
    }

    @Test func `the number of addresses is limited to those of a link`() throws {
        let table = try table((1...20).map { (2, "10.0.0.\($0)") })
        #expect(texts(table).count == PairingAddresses.maxAddresses)
    }

    @Test func `a machine is on a network with an address that others see`() throws {
        let alone = try table([(1, "127.0.0.1"), (1, "::1")])
        #expect(!PairingAddresses(only: nil, interfaces: []).isOnNetwork(in: alone))
        #expect(PairingAddresses(only: nil, interfaces: ["lo"]).isOnNetwork(in: alone))
        #expect(PairingAddresses(only: .loopbackIPv4, interfaces: []).isOnNetwork(in: alone))
        // A link without any other network counts: discovery works there.
        #expect(PairingAddresses(only: nil, interfaces: []).isOnNetwork(in: try table([(2, "fe80::5")])))
    }

    @Test func `the table of this machine has its loopback`() throws {
        let table = try InterfaceTable.current()
        #expect(table.index(of: "lo") == 1)
        #expect(table.usable.contains { $0.address == .loopbackIPv4 })
    }
}
