import HandoffDiscovery
import Testing

/// Avahi stops and returns without reporting removals.
struct ServiceDirectoryLossTests {
    @Test func `keeps everything while avahi is away`() throws {
        var bench = try DirectoryBench()
        try bench.resolve("a")
        bench.directory.libraryLost()
        #expect(bench.settle() == [])
        #expect(bench.wanted == [DirectoryBench.browse])
    }

    @Test func `confirms instances that reappear`() throws {
        var bench = try DirectoryBench()
        try bench.resolve("a")
        bench.directory.libraryLost()
        _ = bench.settle()
        // It is reported again, because a merge of several sources needs the confirmation.
        let known = try service("a", text: "v=1", port: 80, ["10.0.0.77:80"])
        #expect(try bench.appear("a") == [known])
        #expect(bench.queries(for: "a") == [.text, .target, .ipv4, .ipv6])
        bench.directory.sweep()
        #expect(bench.settle() == [])
    }

    @Test func `sweeps instances that do not reappear`() throws {
        var bench = try DirectoryBench()
        try bench.resolve("a")
        try bench.resolve("b")
        bench.directory.libraryLost()
        _ = bench.settle()
        _ = try bench.appear("b")
        bench.directory.sweep()
        #expect(bench.settle() == [.removed(instance: "a")])
    }

    @Test func `reports all-for-now after the services`() throws {
        var bench = try DirectoryBench()
        bench.directory.appeared(DirectoryBench.browse, on: Fixture.link(2), data: try Fixture.pointer("a"))
        _ = bench.settle()
        bench.directory.allForNow(DirectoryBench.browse)
        #expect(try bench.text("a", "x") == [try service("a", text: "x"), .allForNow])
        #expect(bench.settle() == [])
    }

    @Test func `an old text does not return`() throws {
        var bench = try DirectoryBench()
        _ = try bench.appear("a")
        _ = try bench.text("a", "old")
        bench.directory.libraryLost()
        _ = bench.settle()
        _ = try bench.appear("a")
        #expect(try bench.text("a", "new") == [try service("a", text: "new")])
    }
}
