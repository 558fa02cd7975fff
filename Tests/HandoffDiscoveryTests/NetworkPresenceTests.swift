import HandoffDiscovery
import LoopIO
import Testing

struct NetworkPresenceTests {
    /// A machine with loopback, a wired interface with an address, and a wireless interface that is
    /// down.
    private func presence(_ interfaces: [String], only: String? = nil, cable: Bool = true) throws -> NetworkPresence {
        var table = InterfaceTable()
        table.apply(.link(index: 1, name: "lo", flags: 0x49))
        table.apply(.link(index: 2, name: "eth0", flags: cable ? 0x41 : 0x1))
        table.apply(.link(index: 3, name: "wlan0", flags: 0))
        for (index, text) in [(1, "127.0.0.1"), (2, "192.0.2.5")] as [(UInt32, String)] {
            let address = try #require(IPAddress(text: text))
            table.apply(.address(LocalAddress(interface: index, address: address, prefixLength: 24), flags: 0))
        }
        return NetworkPresence(table, interfaces: interfaces, only: only.flatMap { IPAddress(text: $0) })
    }

    @Test func `any connected interface other than loopback is a network`() throws {
        #expect(try presence([]).isPresent)
        #expect(try !presence([], cable: false).isPresent)
        #expect(try presence([], only: "127.0.0.1", cable: false).isPresent, "loopback is configured")
    }

    @Test func `at least one of the named interfaces must be up`() throws {
        #expect(try presence(["eth0"]).isPresent)
        #expect(try !presence(["wlan0"]).isPresent)
        #expect(try presence(["wlan0", "eth0"]).isPresent)
        #expect(try presence(["lo"], cable: false).isPresent)
    }

    @Test func `an address that no interface has is missing`() throws {
        let away = try presence([], only: "192.0.2.9")
        #expect(!away.isPresent && away.missingAddress == IPAddress(text: "192.0.2.9"))
        let here = try presence([], only: "192.0.2.5")
        #expect(here.isPresent && here.missingAddress == nil)
    }

    @Test func `an interface that does not exist is missing`() throws {
        #expect(try presence(["nope0", "eth0", "nope1"]).missing == ["nope0", "nope1"])
        #expect(try !presence(["nope0"]).isPresent)
        #expect(try presence(["wlan0"]).missing.isEmpty, "an interface that is down exists")
    }
}
