import HandoffDiscovery
import Testing

/// A network with a large number of unknown instances.
struct ServiceDirectoryCrowdTests {
    @Sendable private static func isMember(_ name: String) -> Bool { name.hasPrefix("m") }

    private static func browsed(_ bench: DirectoryBench) -> Set<String> {
        Set(bench.wanted.filter { $0.kind == .text }.map(\.instance))
    }

    private static func resolving(_ bench: DirectoryBench) -> Set<String> {
        Set(bench.wanted.filter { $0.kind == .target }.map(\.instance))
    }

    private static func crowd(unknown: Int, members: Int) throws -> DirectoryBench {
        var bench = try DirectoryBench(members: isMember)
        for number in 0..<unknown { _ = try bench.appear("s\(number)") }
        for number in 0..<members { _ = try bench.appear("m\(number)") }
        return bench
    }

    @Test func `up to 64 instances are browsed in the same way`() throws {
        let bench = try Self.crowd(unknown: 60, members: 4)
        #expect(!bench.directory.isCrowded)
        #expect(Self.browsed(bench).count == 64)
        #expect(Self.resolving(bench).count == 64)
    }

    @Test func `above that limit members have priority`() throws {
        var bench = try Self.crowd(unknown: 300, members: 20)
        #expect(bench.directory.isCrowded)
        bench.directory.rotate()
        _ = bench.settle()
        let browsed = Self.browsed(bench)
        #expect(browsed.count { $0.hasPrefix("m") } == 20)
        #expect(browsed.count { $0.hasPrefix("s") } == ServiceDirectory.maxUnknown)
    }

    @Test func `unknown instances are browsed in turn`() throws {
        var bench = try Self.crowd(unknown: 100, members: 0)
        var seen = Self.browsed(bench)
        for _ in 0..<4 {
            bench.directory.rotate()
            _ = bench.settle()
            #expect(Self.browsed(bench).count == ServiceDirectory.maxUnknown)
            seen.formUnion(Self.browsed(bench))
        }
        #expect(seen.count == 100)
    }

    @Test func `an unknown instance gets its turn although new ones keep appearing`() throws {
        var bench = try Self.crowd(unknown: 300, members: 3)
        for number in 0..<3 {
            _ = try bench.text("m\(number)", "x")
            _ = try bench.target("m\(number)", "host")
            _ = try bench.address("m\(number)", "10.0.0.77")
            _ = try bench.noMore("m\(number)")
        }
        let sought = "s-split"
        _ = try bench.appear(sought)
        var rounds = 0
        while bench.query(.target, sought) == nil {
            bench.directory.rotate()
            _ = bench.settle()
            rounds += 1
            try #require(rounds <= 10)
            // As many as there are places in a round.
            for number in 0..<ServiceDirectory.maxUnknown where rounds < 6 {
                _ = try bench.appear("n\(rounds)-\(number)")
            }
        }
        #expect(try bench.text(sought, "v=1") == [try service(sought, text: "v=1")])
        _ = try bench.target(sought, "host")
        #expect(
            try bench.address(sought, "10.0.0.78") == [
                try service(sought, text: "v=1", port: 80, ["10.0.0.78:80"])
            ])
        // Members are unaffected: they stay fully known.
        for number in 0..<3 {
            #expect(bench.queries(for: "m\(number)") == [.text])
            #expect(try bench.text("m\(number)", "y").count == 1)
        }
        for _ in 0..<20 where bench.query(.text, sought) != nil { bench.directory.rotate() }
        #expect(bench.settle().contains(.removed(instance: sought)))
    }

    @Test func `a dropped instance is found after the others disappear`() throws {
        var bench = try Self.crowd(unknown: ServiceDirectory.maxInstances, members: 0)
        _ = try bench.appear("s-late")
        for number in 0..<ServiceDirectory.maxInstances - ServiceDirectory.uniformLimit {
            _ = try bench.vanish("s\(number)")
        }
        // A new browser reports it.
        let browse = try #require(bench.wanted.first { $0.kind == .instances })
        bench.directory.vanished(browse, on: Fixture.link(2), data: try Fixture.pointer("s500"))
        #expect(browse.round != 0)
        bench.directory.appeared(browse, on: Fixture.link(2), data: try Fixture.pointer("s-late"))
        _ = bench.settle()
        #expect(bench.query(.text, "s-late") != nil)
    }

    @Test func `unknown instances are removed when the network becomes crowded`() throws {
        var bench = try Self.crowd(unknown: 60, members: 3)
        for number in 0..<60 { _ = try bench.text("s\(number)", "x") }
        _ = try bench.text("m0", "x")
        #expect(try bench.appear("s60") == [])
        let removed = try bench.appear("s61")
        // The last two may be among those that are browsed.
        #expect((60 - ServiceDirectory.maxUnknown...62 - ServiceDirectory.maxUnknown).contains(removed.count))
        #expect(removed.allSatisfy { if case .removed(let name) = $0 { name.hasPrefix("s") } else { false } })
        // The others are reported while they are browsed.
        #expect(Self.browsed(bench).count { $0.hasPrefix("s") } == ServiceDirectory.maxUnknown)
        #expect(try bench.text("m0", "y") == [try service("m0", text: "y")])
    }

    @Test func `a new member is resolved immediately in a crowd`() throws {
        var bench = try Self.crowd(unknown: 500, members: 0)
        _ = try bench.appear("m")
        #expect(bench.queries(for: "m") == [.text, .target])
    }

    @Test func `never keeps more than the cap and makes room for members`() throws {
        var bench = try Self.crowd(unknown: 600, members: 0)
        for number in 0..<10 {
            _ = try bench.appear("m\(number)")
            #expect(bench.query(.text, "m\(number)") != nil)
        }
        // Dropped instances leave no trace, so members can fill all places.
        var members = try Self.crowd(unknown: 0, members: 600)
        #expect(Self.browsed(members).count == ServiceDirectory.maxInstances)
        #expect(try members.appear("m9999") == [])
        #expect(Self.browsed(members).count == ServiceDirectory.maxInstances)
    }

    @Test func `resolves at most 64 at a time and then the next`() throws {
        var bench = try Self.crowd(unknown: 0, members: 100)
        #expect(Self.browsed(bench).count == 100)
        #expect(Self.resolving(bench).count == ServiceDirectory.maxResolving)
        let one = try #require(Self.resolving(bench).first)
        _ = try bench.target(one, "host")
        _ = try bench.address(one, "10.0.0.77")
        _ = try bench.noMore(one)
        #expect(Self.resolving(bench).count == ServiceDirectory.maxResolving)
        #expect(!Self.resolving(bench).contains(one))
    }

    @Test func `unresolvable instances are preempted`() throws {
        var bench = try Self.crowd(unknown: 0, members: 100)
        let first = Self.resolving(bench)
        bench.directory.rotate()
        _ = bench.settle()
        let second = Self.resolving(bench)
        #expect(second.count == ServiceDirectory.maxResolving)
        #expect(first.union(second).count == 100)
    }

    @Test func `a new membership predicate applies to all instances`() throws {
        var bench = try Self.crowd(unknown: 300, members: 0)
        let chosen = try #require(Set((0..<300).map { "s\($0)" }).subtracting(Self.browsed(bench)).first)
        bench.directory.setMembership { $0 == chosen }
        _ = bench.settle()
        #expect(bench.query(.text, chosen) != nil)
    }

    @Test func `browses again when dropped names may be members`() throws {
        var bench = try Self.crowd(unknown: 513, members: 0)
        bench.directory.setMembership { _ in true }
        _ = bench.settle()
        let browse = try #require(bench.wanted.first { $0.kind == .instances })
        #expect(browse.round != 0)
        // Reports of the previous browser are ignored.
        #expect(try bench.vanish("s0") == [])
        #expect(bench.query(.text, "s0") != nil)
    }

    @Test func `a crowd that disappears leaves nothing behind`() throws {
        var bench = try Self.crowd(unknown: 300, members: 2)
        for number in 0..<300 { _ = try bench.vanish("s\(number)") }
        #expect(Self.browsed(bench) == ["m0", "m1"])
        #expect(!bench.directory.isCrowded)
    }

    @Test func `limits the records of one instance`() throws {
        var bench = try DirectoryBench()
        _ = try bench.appear("a")
        for number in 0..<1000 { _ = try bench.text("a", "\(number)") }
        // The oldest are dropped: withdrawing the newest sixteen leaves the last one.
        for number in (985..<1000).reversed() { _ = try bench.textVanishes("a", "\(number)") }
        #expect(try bench.textVanishes("a", "984") == [])
    }
}
