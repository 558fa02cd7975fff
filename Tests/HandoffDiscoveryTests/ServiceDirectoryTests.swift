import HandoffDiscovery
import LoopIO
import Testing

struct ServiceDirectoryTests {
    @Test func `queries instances permanently`() throws {
        var bench = try DirectoryBench()
        #expect(bench.wanted == [DirectoryBench.browse])
        try bench.resolve("a")
        _ = try bench.vanish("a")
        #expect(bench.wanted == [DirectoryBench.browse])
    }

    @Test func `queries step by step and keeps only the text query`() throws {
        var bench = try DirectoryBench()
        _ = try bench.appear("a")
        #expect(bench.queries(for: "a") == [.text, .target])
        #expect(bench.query(.text, "a")?.name == "a._handoff._tcp.local")
        _ = try bench.target("a", "host")
        #expect(bench.queries(for: "a") == [.text, .target, .ipv4, .ipv6])
        #expect(bench.query(.ipv4, "a")?.name == "host.local")
        _ = try bench.address("a", "10.0.0.77")
        _ = try bench.noMore("a", [.ipv4])
        #expect(bench.queries(for: "a") == [.text, .target, .ipv4, .ipv6])
        _ = try bench.noMore("a", [.ipv6])
        #expect(bench.queries(for: "a") == [.text])
    }

    @Test func `keeps querying without an address`() throws {
        var bench = try DirectoryBench()
        _ = try bench.appear("a")
        _ = try bench.target("a", "host")
        _ = try bench.address("a", "8.8.8.8")
        _ = try bench.noMore("a")
        #expect(bench.queries(for: "a") == [.text, .target, .ipv4, .ipv6])
        #expect(try bench.address("a", "10.0.0.77") == [try service("a", port: 80, ["10.0.0.77:80"])])
        #expect(bench.queries(for: "a") == [.text])
    }

    @Test func `reports every new piece of information`() throws {
        var bench = try DirectoryBench()
        #expect(try bench.appear("a") == [])
        #expect(try bench.text("a", "one") == [try service("a", text: "one")])
        #expect(try bench.target("a", "host") == [try service("a", text: "one", port: 80)])
        #expect(try bench.address("a", "10.0.0.77") == [try service("a", text: "one", port: 80, ["10.0.0.77:80"])])
        #expect(
            try bench.address("a", "fe80::7")
                == [try service("a", text: "one", port: 80, ["10.0.0.77:80", "[fe80::7%eth0]:80"])])
        // A repetition is not a change.
        #expect(try bench.address("a", "fe80::7", on: Fixture.link(2, isIPv6: true)) == [])
        #expect(try bench.noMore("a") == [])
    }

    @Test func `uses the newest text in any order of removals`() throws {
        var bench = try DirectoryBench()
        _ = try bench.appear("a")
        _ = try bench.text("a", "one")
        _ = try bench.text("a", "one", on: Fixture.link(2, isIPv6: true))
        #expect(try bench.text("a", "two") == [try service("a", text: "two")])
        // The old record is withdrawn a second after the new one arrived.
        #expect(try bench.textVanishes("a", "one") == [])
        #expect(try bench.textVanishes("a", "one", on: Fixture.link(2, isIPv6: true)) == [])
        #expect(try bench.text("a", "three") == [try service("a", text: "three")])
        #expect(try bench.textVanishes("a", "three") == [try service("a", text: "two")])
        // The last one is kept while the instance exists.
        #expect(try bench.textVanishes("a", "two") == [])
    }

    @Test func `removes with the last link`() throws {
        var bench = try DirectoryBench()
        try bench.resolve("a")
        _ = try bench.appear("a", on: Fixture.link(2, isIPv6: true))
        #expect(try bench.vanish("a") == [])
        #expect(try bench.vanish("a", on: Fixture.link(3)) == [])
        #expect(try bench.vanish("a", on: Fixture.link(2, isIPv6: true)) == [.removed(instance: "a")])
        #expect(try bench.vanish("a") == [])
    }

    @Test func `does not report the removal of an unreported instance`() throws {
        var bench = try DirectoryBench()
        _ = try bench.appear("a")
        #expect(try bench.vanish("a") == [])
    }

    @Test func `starts again when an instance returns immediately`() throws {
        var bench = try DirectoryBench()
        try bench.resolve("a")
        let before = bench.query(.text, "a")
        bench.directory.vanished(DirectoryBench.browse, on: Fixture.link(2), data: try Fixture.pointer("a"))
        bench.directory.appeared(DirectoryBench.browse, on: Fixture.link(2), data: try Fixture.pointer("a"))
        #expect(bench.settle() == [.removed(instance: "a")])
        // The query differs, so the driver creates a browser that reports everything again.
        #expect(bench.query(.text, "a") != nil)
        #expect(bench.query(.text, "a") != before)
    }

    @Test func `ignores own instances`() throws {
        var bench = try DirectoryBench()
        bench.directory.setOwnInstance("OWN")
        #expect(try bench.appear("own") == [])
        #expect(bench.wanted == [DirectoryBench.browse])
        bench.directory.setOwnInstance("next")
        _ = try bench.appear("own")
        #expect(bench.wanted == [DirectoryBench.browse])
        _ = try bench.appear("other")
        #expect(bench.query(.text, "other") != nil)
    }

    @Test func `removes an instance that becomes this device's own`() throws {
        var bench = try DirectoryBench()
        try bench.resolve("a")
        bench.directory.setOwnInstance("a")
        #expect(bench.settle() == [.removed(instance: "a")])
    }

    @Test(arguments: [
        "other._tcp.local", "a.b._handoff._tcp.local", "_handoff._tcp.local", "a._handoff._tcp.example",
    ])
    func `ignores other names`(_ name: String) throws {
        var bench = try DirectoryBench()
        let data = try #require(DomainName(name)).wire
        bench.directory.appeared(DirectoryBench.browse, on: Fixture.link(2), data: data)
        _ = bench.settle()
        #expect(bench.wanted == [DirectoryBench.browse])
    }

    @Test func `ignores reports of stopped browsers`() throws {
        var bench = try DirectoryBench()
        _ = try bench.appear("a")
        _ = try bench.target("a", "host")
        let late = try #require(bench.query(.ipv4, "a"))
        _ = try bench.address("a", "10.0.0.77")
        _ = try bench.noMore("a")
        bench.directory.appeared(late, on: Fixture.link(2), data: [10, 0, 0, 66])
        #expect(bench.settle() == [])
        bench.directory.appeared(late, on: Fixture.link(2), data: [])
        bench.directory.vanished(late, on: Fixture.link(2), data: [10, 0, 0, 77])
        bench.directory.allForNow(late)
        #expect(bench.settle() == [])
    }

    @Test func `changes the host with the target`() throws {
        var bench = try DirectoryBench()
        _ = try bench.appear("a")
        _ = try bench.target("a", "one")
        _ = try bench.address("a", "10.0.0.77")
        #expect(try bench.target("a", "two", port: 81) == [try service("a", port: 81)])
        #expect(bench.query(.ipv4, "a")?.name == "two.local")
        #expect(try bench.address("a", "10.0.0.78") == [try service("a", port: 81, ["10.0.0.78:81"])])
    }

    @Test func `refresh replaces unconfirmed records`() throws {
        var bench = try DirectoryBench()
        try bench.resolve("a", address: "10.0.0.77")
        bench.directory.refresh("a")
        #expect(bench.settle() == [])
        #expect(bench.queries(for: "a") == [.text, .target, .ipv4, .ipv6])
        _ = try bench.target("a", "ha")
        let both = try service("a", text: "v=1", port: 80, ["10.0.0.78:80", "10.0.0.77:80"])
        #expect(try bench.address("a", "10.0.0.78") == [both])
        #expect(try bench.noMore("a") == [try service("a", text: "v=1", port: 80, ["10.0.0.78:80"])])
        #expect(bench.queries(for: "a") == [.text])
    }

    @Test func `refresh does not restart a new round`() throws {
        var bench = try DirectoryBench()
        _ = try bench.appear("a")
        let before = bench.wanted
        bench.directory.refresh("a")
        bench.directory.refresh("unknown")
        _ = bench.settle()
        #expect(bench.wanted == before)
    }

    @Test func `resolves again on another interface`() throws {
        var bench = try DirectoryBench()
        try bench.resolve("a")
        _ = try bench.appear("a", on: Fixture.link(2, isIPv6: true))
        #expect(bench.queries(for: "a") == [.text])
        _ = try bench.appear("a", on: Fixture.link(3))
        #expect(bench.queries(for: "a").isSuperset(of: [.text, .target]))
    }

    @Test func `reports at most eight addresses, on-link ones first`() throws {
        var bench = try DirectoryBench()
        _ = try bench.appear("a")
        _ = try bench.target("a", "host")
        _ = try bench.address("a", "172.16.0.1")
        _ = try bench.address("a", "fe80::7")
        for last in 1...20 { _ = try bench.address("a", "10.0.0.\(last)") }
        let events = try bench.text("a", "x")
        guard case .service(let service)? = events.first else { throw Missing() }
        #expect(service.addresses.count == ServiceDirectory.maxAddresses)
        #expect(service.addresses.map(\.host).contains("10.0.0.20"))
        #expect(!service.addresses.map(\.host).contains("172.16.0.1"))
    }

    @Test func `loopback addresses are accepted only on loopback`() throws {
        var bench = try DirectoryBench(options: DiscoveryOptions(interfaces: ["lo"]))
        let browse = RecordQuery(kind: .instances, name: "_handoff._tcp.local", interface: 1)
        #expect(bench.wanted == [browse])
        bench.directory.appeared(browse, on: Fixture.link(1), data: try Fixture.pointer("a"))
        bench.directory.appeared(browse, on: Fixture.link(2), data: try Fixture.pointer("b"))
        _ = bench.settle()
        #expect(bench.queries(for: "b") == [])
        #expect(bench.query(.text, "a")?.interface == 1)
        _ = try bench.target("a", "host", on: Fixture.link(1))
        #expect(try bench.address("a", "10.0.0.77", on: Fixture.link(1)) == [])
        #expect(
            try bench.address("a", "127.0.0.1", on: Fixture.link(1)) == [try service("a", port: 80, ["127.0.0.1:80"])])
    }

    @Test func `sends no queries while the named interface is missing`() throws {
        var bench = try DirectoryBench(options: DiscoveryOptions(interfaces: ["nosuch"]))
        #expect(bench.wanted == [])
        var table = try Fixture.table()
        table.apply(.link(index: 9, name: "nosuch", flags: Fixture.up))
        bench.directory.setInterfaces(table)
        _ = bench.settle()
        #expect(bench.wanted.map(\.interface) == [9])
    }

    @Test func `queries only IPv4 if IPv6 is disabled`() throws {
        var bench = try DirectoryBench(options: DiscoveryOptions(useIPv6: false))
        _ = try bench.appear("a")
        _ = try bench.target("a", "host")
        #expect(bench.queries(for: "a") == [.text, .target, .ipv4])
        _ = try bench.address("a", "10.0.0.77")
        _ = try bench.noMore("a", [.ipv4])
        #expect(bench.queries(for: "a") == [.text])
    }

    @Test func `reevaluates addresses when the interfaces change`() throws {
        var bench = try DirectoryBench()
        try bench.resolve("a")
        var table = try Fixture.table()
        table.apply(.link(index: 2, name: "eth0", flags: 0))
        bench.directory.setInterfaces(table)
        #expect(bench.settle() == [try service("a", text: "v=1", port: 80)])
        bench.directory.setInterfaces(try Fixture.table())
        #expect(bench.settle() == [try service("a", text: "v=1", port: 80, ["10.0.0.77:80"])])
    }
}

struct Missing: Error {}
