import HandoffDiscovery
import LoopIO
import Testing

/// What is heard is not asked for.
struct ServiceDirectoryHearingTests {
    private static func all(_ text: String, address: String = "10.0.0.77") throws -> PlayedPacket {
        try .saying("a", text: text, host: "host", addresses: [address])
    }

    private func bench() throws -> DirectoryBench { try DirectoryBench(hears: true) }

    @Test func `asks for nothing of an instance that says everything when it appears`() throws {
        var bench = try bench()
        bench.directory.appeared(DirectoryBench.browse, on: Fixture.link(2), data: try Fixture.pointer("a"))
        #expect(try bench.hear(Self.all("one")) == [try service("a", text: "one", port: 80, ["10.0.0.77:80"])])
        #expect(bench.wanted == [DirectoryBench.browse])
    }

    @Test func `asks for what was not said, until it is known`() throws {
        var bench = try bench()
        _ = try bench.appear("a")
        #expect(bench.queries(for: "a") == [.text, .target])
        #expect(try bench.hear(.saying("a", text: "one")) == [try service("a", text: "one")])
        #expect(bench.queries(for: "a") == [.text, .target])
        #expect(try bench.hear(.saying("a", host: "host")) == [try service("a", text: "one", port: 80)])
        #expect(bench.queries(for: "a") == [.text, .target, .ipv4, .ipv6])
        _ = try bench.target("a", "host")
        _ = try bench.address("a", "10.0.0.77")
        _ = try bench.noMore("a")
        #expect(bench.wanted == [DirectoryBench.browse])
    }

    @Test func `asks for the text as long as nobody says it`() throws {
        var bench = try bench()
        _ = try bench.appear("a")
        _ = try bench.target("a", "host")
        _ = try bench.address("a", "10.0.0.77")
        _ = try bench.noMore("a")
        #expect(bench.queries(for: "a") == [.text])
        #expect(try bench.text("a", "one") == [try service("a", text: "one", port: 80, ["10.0.0.77:80"])])
        #expect(bench.wanted == [DirectoryBench.browse])
    }

    @Test func `tells a text that is said later`() throws {
        var bench = try bench()
        _ = try bench.appear("a")
        _ = try bench.hear(Self.all("one"))
        #expect(
            try bench.hear(.saying("a", text: "two")) == [try service("a", text: "two", port: 80, ["10.0.0.77:80"])])
        #expect(try bench.hear(.saying("a", text: "two"), on: Fixture.link(2, isIPv6: true)) == [])
        #expect(bench.wanted == [DirectoryBench.browse])
    }

    @Test func `tells an address that is said beside another one, and one that is taken back`() throws {
        var bench = try bench()
        _ = try bench.appear("a")
        _ = try bench.hear(Self.all("one"))
        let both = try service("a", text: "one", port: 80, ["10.0.0.78:80", "10.0.0.77:80"])
        #expect(try bench.hear(Self.all("one", address: "10.0.0.78")) == [both])
        let goodbye = try PlayedPacket.saying("a", host: "host", addresses: ["10.0.0.77"], lifetime: 0)
        #expect(try bench.hear(goodbye) == [try service("a", text: "one", port: 80, ["10.0.0.78:80"])])
    }

    @Test func `a refresh asks, whatever was heard before`() throws {
        var bench = try bench()
        _ = try bench.appear("a")
        _ = try bench.hear(Self.all("one"))
        bench.directory.refresh("a")
        #expect(bench.settle() == [])
        #expect(bench.queries(for: "a") == [.text, .target, .ipv4, .ipv6])
        #expect(
            try bench.hear(Self.all("one", address: "10.0.0.78"))
                == [try service("a", text: "one", port: 80, ["10.0.0.78:80"])])
        #expect(bench.wanted == [DirectoryBench.browse])
    }

    @Test func `asks anew after Avahi was lost`() throws {
        var bench = try bench()
        _ = try bench.appear("a")
        _ = try bench.hear(Self.all("one"))
        bench.directory.libraryLost()
        _ = bench.settle()
        _ = try bench.appear("a")
        #expect(bench.queries(for: "a").isSuperset(of: [.text, .target]))
    }

    @Test func `what comes from elsewhere than the link does not count`() throws {
        var bench = try bench()
        _ = try bench.appear("a")
        #expect(try bench.hear(Self.all("one"), from: "192.0.2.1") == [])
        #expect(try bench.hear(Self.all("one"), on: Fixture.link(3)) == [])
        #expect(try bench.hear(Self.all("one"), from: "fe80::9") != [])
    }

    @Test func `what is about nobody who is there is nothing`() throws {
        var bench = try bench()
        #expect(try bench.hear(Self.all("one")) == [])
        _ = try bench.appear("b")
        #expect(try bench.hear(Self.all("one")) == [])
        #expect(bench.queries(for: "a") == [])
    }

    @Test func `goes on asking one that has no address here`() throws {
        var bench = try bench()
        _ = try bench.appear("a")
        _ = try bench.hear(Self.all("one", address: "8.8.8.8"))
        #expect(bench.queries(for: "a") == [.text, .target, .ipv4, .ipv6])
    }

    @Test func `without hearing it asks for ever`() throws {
        var bench = try DirectoryBench()
        _ = try bench.appear("a")
        #expect(try bench.hear(Self.all("one")) == [])
        #expect(bench.queries(for: "a") == [.text, .target])
    }
}
