import HandoffDiscovery
import LoopIO
import Testing

/// Records received without a query are not queried.
struct ServiceDirectoryHearingTests {
    private static func all(_ text: String, address: String = "10.0.0.77") throws -> PlayedPacket {
        try .records("a", text: text, host: "host", addresses: [address])
    }

    private func bench() throws -> DirectoryBench { try DirectoryBench(hears: true) }

    @Test func `does not query an instance that announces everything when it appears`() throws {
        var bench = try bench()
        bench.directory.appeared(DirectoryBench.browse, on: Fixture.link(2), data: try Fixture.pointer("a"))
        #expect(try bench.receive(Self.all("one")) == [try service("a", text: "one", port: 80, ["10.0.0.77:80"])])
        #expect(bench.wanted == [DirectoryBench.browse])
    }

    @Test func `queries missing records until they are known`() throws {
        var bench = try bench()
        _ = try bench.appear("a")
        #expect(bench.queries(for: "a") == [.text, .target])
        #expect(try bench.receive(.records("a", text: "one")) == [try service("a", text: "one")])
        #expect(bench.queries(for: "a") == [.text, .target])
        #expect(try bench.receive(.records("a", host: "host")) == [try service("a", text: "one", port: 80)])
        #expect(bench.queries(for: "a") == [.text, .target, .ipv4, .ipv6])
        _ = try bench.target("a", "host")
        _ = try bench.address("a", "10.0.0.77")
        _ = try bench.noMore("a")
        #expect(bench.wanted == [DirectoryBench.browse])
    }

    @Test func `queries the text until it is received`() throws {
        var bench = try bench()
        _ = try bench.appear("a")
        _ = try bench.target("a", "host")
        _ = try bench.address("a", "10.0.0.77")
        _ = try bench.noMore("a")
        #expect(bench.queries(for: "a") == [.text])
        #expect(try bench.text("a", "one") == [try service("a", text: "one", port: 80, ["10.0.0.77:80"])])
        #expect(bench.wanted == [DirectoryBench.browse])
    }

    @Test func `reports a text that is announced later`() throws {
        var bench = try bench()
        _ = try bench.appear("a")
        _ = try bench.receive(Self.all("one"))
        #expect(
            try bench.receive(.records("a", text: "two")) == [try service("a", text: "two", port: 80, ["10.0.0.77:80"])]
        )
        #expect(try bench.receive(.records("a", text: "two"), on: Fixture.link(2, isIPv6: true)) == [])
        #expect(bench.wanted == [DirectoryBench.browse])
    }

    @Test func `reports an additional address and a withdrawn one`() throws {
        var bench = try bench()
        _ = try bench.appear("a")
        _ = try bench.receive(Self.all("one"))
        let both = try service("a", text: "one", port: 80, ["10.0.0.78:80", "10.0.0.77:80"])
        #expect(try bench.receive(Self.all("one", address: "10.0.0.78")) == [both])
        let withdrawal = try PlayedPacket.records("a", host: "host", addresses: ["10.0.0.77"], lifetime: 0)
        #expect(try bench.receive(withdrawal) == [try service("a", text: "one", port: 80, ["10.0.0.78:80"])])
    }

    @Test func `a refresh sends queries regardless of received records`() throws {
        var bench = try bench()
        _ = try bench.appear("a")
        _ = try bench.receive(Self.all("one"))
        bench.directory.refresh("a")
        #expect(bench.settle() == [])
        #expect(bench.queries(for: "a") == [.text, .target, .ipv4, .ipv6])
        #expect(
            try bench.receive(Self.all("one", address: "10.0.0.78"))
                == [try service("a", text: "one", port: 80, ["10.0.0.78:80"])])
        #expect(bench.wanted == [DirectoryBench.browse])
    }

    @Test func `queries again after Avahi was lost`() throws {
        var bench = try bench()
        _ = try bench.appear("a")
        _ = try bench.receive(Self.all("one"))
        bench.directory.libraryLost()
        _ = bench.settle()
        _ = try bench.appear("a")
        #expect(bench.queries(for: "a").isSuperset(of: [.text, .target]))
    }

    @Test func `packets from outside the link are ignored`() throws {
        var bench = try bench()
        _ = try bench.appear("a")
        #expect(try bench.receive(Self.all("one"), from: "192.0.2.1") == [])
        #expect(try bench.receive(Self.all("one"), on: Fixture.link(3)) == [])
        #expect(try bench.receive(Self.all("one"), from: "fe80::9") != [])
    }

    @Test func `records of unlisted instances are ignored`() throws {
        var bench = try bench()
        #expect(try bench.receive(Self.all("one")) == [])
        _ = try bench.appear("b")
        #expect(try bench.receive(Self.all("one")) == [])
        #expect(bench.queries(for: "a") == [])
    }

    @Test func `keeps querying an instance without a usable address`() throws {
        var bench = try bench()
        _ = try bench.appear("a")
        _ = try bench.receive(Self.all("one", address: "8.8.8.8"))
        #expect(bench.queries(for: "a") == [.text, .target, .ipv4, .ipv6])
    }

    @Test func `queries permanently if packets are not received`() throws {
        var bench = try DirectoryBench()
        _ = try bench.appear("a")
        #expect(try bench.receive(Self.all("one")) == [])
        #expect(bench.queries(for: "a") == [.text, .target])
    }
}
