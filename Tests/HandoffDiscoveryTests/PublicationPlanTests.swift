import HandoffDiscovery
import HandoffModel
import LoopIO
import Testing

struct PublicationPlanTests {
    private static let start = MonotonicInstant(nanoseconds: 1_000_000_000_000)

    private static func publication(_ instance: String, host: String = "host", port: UInt16 = 80, text: String = "one")
        -> Publication
    {
        Publication(instance: instance, host: host, port: port, text: [Array(text.utf8)])
    }

    private static func plan(_ options: DiscoveryOptions = DiscoveryOptions()) throws -> PublicationPlan {
        var plan = PublicationPlan(options: options)
        plan.setInterfaces(try Fixture.table())
        return plan
    }

    private static func publish(_ publication: Publication?, _ plan: inout PublicationPlan) {
        let isFit = plan.setPublication(publication)
        #expect(isFit)
    }

    private static func made(_ actions: [PublicationPlan.Action]) -> [UInt64] {
        actions.compactMap { if case .make(let id, _, _) = $0 { id } else { nil } }
    }

    private static func freed(_ actions: [PublicationPlan.Action]) -> [UInt64] {
        actions.compactMap { if case .free(let id) = $0 { id } else { nil } }
    }

    @Test func `publishes nothing without a publication`() throws {
        var plan = try Self.plan()
        #expect(plan.step(at: Self.start) == [])
        #expect(plan.deadline == nil)
    }

    @Test func `creates one group per address and one for the service`() throws {
        var plan = try Self.plan()
        Self.publish(Self.publication("abc", host: "hhh", port: 24863), &plan)
        let data = try #require(TextData.encode([Array("one".utf8)]))
        #expect(
            plan.step(at: Self.start) == [
                .make(1, records: [.address(host: "hhh.local", try Fixture.ip("10.0.0.1"))], interface: 2),
                .make(2, records: [.address(host: "hhh.local", try Fixture.ip("fe80::1"))], interface: 2),
                .make(3, records: [.address(host: "hhh.local", try Fixture.ip("192.168.7.1"))], interface: 3),
                .make(
                    4,
                    records: [
                        .raw(
                            name: "_handoff._tcp.local", kind: .instances, lifetime: 900,
                            data: try Fixture.pointer("abc"), isShared: true),
                        .raw(
                            name: "abc._handoff._tcp.local", kind: .target, lifetime: 120,
                            data: try Fixture.target("hhh", 24863), isShared: false),
                        .raw(
                            name: "abc._handoff._tcp.local", kind: .text, lifetime: 900, data: data, isShared: false),
                    ], interface: nil),
            ])
        #expect(plan.step(at: Self.start) == [])
        #expect(plan.deadline == nil)
    }

    @Test func `publishes loopback on loopback only`() throws {
        var plan = try Self.plan(DiscoveryOptions(interfaces: ["lo"]))
        Self.publish(Self.publication("abc"), &plan)
        let actions = plan.step(at: Self.start)
        #expect(
            actions.first
                == .make(1, records: [.address(host: "host.local", try Fixture.ip("127.0.0.1"))], interface: 1))
        guard case .make(2, _, interface: 1)? = actions.last else { throw Missing() }
        #expect(actions.count == 2)
    }

    @Test func `respects families and named interfaces`() throws {
        var plan = try Self.plan(DiscoveryOptions(interfaces: ["eth0", "nosuch"], useIPv4: false))
        Self.publish(Self.publication("abc"), &plan)
        let actions = plan.step(at: Self.start)
        #expect(
            actions.first == .make(1, records: [.address(host: "host.local", try Fixture.ip("fe80::1"))], interface: 2))
        #expect(actions.count == 2)
    }

    @Test func `updates the text in place`() throws {
        var plan = try Self.plan()
        Self.publish(Self.publication("abc"), &plan)
        _ = plan.step(at: Self.start)
        Self.publish(Self.publication("abc", text: "two"), &plan)
        let data = try #require(TextData.encode([Array("two".utf8)]))
        #expect(
            plan.step(at: Self.start) == [
                .update(
                    4, .raw(name: "abc._handoff._tcp.local", kind: .text, lifetime: 900, data: data, isShared: false),
                    interface: nil)
            ])
    }

    @Test func `limits updates and uses the last text`() throws {
        var plan = try Self.plan()
        Self.publish(Self.publication("abc"), &plan)
        _ = plan.step(at: Self.start)
        Self.publish(Self.publication("abc", text: "two"), &plan)
        #expect(plan.step(at: Self.start).count == 1)
        Self.publish(Self.publication("abc", text: "three"), &plan)
        #expect(plan.step(at: Self.start) == [])
        Self.publish(Self.publication("abc", text: "four"), &plan)
        #expect(plan.step(at: Self.start + .milliseconds(249)) == [])
        #expect(plan.deadline == Self.start + PublicationPlan.textInterval)
        guard case .update(4, .raw(_, _, _, let data, _), _)? = plan.step(at: Self.start + .milliseconds(250)).first
        else { throw Missing() }
        #expect(TextData.decode(data) == [Array("four".utf8)])
        #expect(plan.deadline == nil)
    }

    @Test func `announces the new service before it withdraws the old`() throws {
        var plan = try Self.plan()
        Self.publish(Self.publication("abc", host: "one"), &plan)
        let old = Self.made(plan.step(at: Self.start))
        for id in old { plan.established(id) }
        Self.publish(Self.publication("def", host: "two", text: "two"), &plan)
        let actions = plan.step(at: Self.start)
        let new = Self.made(actions)
        #expect(new.count == 4)
        #expect(actions.count == 4)
        // Not announced yet: the old group stays for at most three seconds.
        #expect(plan.step(at: Self.start + .seconds(2)) == [])
        #expect(plan.deadline == Self.start + PublicationPlan.overlap.max)
        for id in new { plan.established(id) }
        #expect(Set(Self.freed(plan.step(at: Self.start + .seconds(2)))) == Set(old))
        #expect(plan.deadline == nil)
    }

    @Test func `keeps the old service until the new one has been visible for a while`() throws {
        var plan = try Self.plan()
        Self.publish(Self.publication("abc", host: "one"), &plan)
        let old = Self.made(plan.step(at: Self.start))
        Self.publish(Self.publication("def", host: "two"), &plan)
        for id in Self.made(plan.step(at: Self.start)) { plan.established(id) }
        #expect(plan.deadline == Self.start + PublicationPlan.overlap.min)
        #expect(plan.step(at: Self.start + .milliseconds(999)) == [])
        #expect(Set(Self.freed(plan.step(at: Self.start + .seconds(1)))) == Set(old))
    }

    @Test func `frees the old group eventually, even if nothing is announced`() throws {
        var plan = try Self.plan()
        Self.publish(Self.publication("abc", host: "one"), &plan)
        let old = Self.made(plan.step(at: Self.start))
        Self.publish(Self.publication("def", host: "two"), &plan)
        _ = plan.step(at: Self.start)
        #expect(Set(Self.freed(plan.step(at: Self.start + PublicationPlan.overlap.max))) == Set(old))
    }

    @Test func `replaces a group that keeps its names`() throws {
        var plan = try Self.plan()
        Self.publish(Self.publication("abc"), &plan)
        _ = plan.step(at: Self.start)
        // One instance cannot have two SRV records, so the old one is freed first.
        Self.publish(Self.publication("abc", port: 81), &plan)
        let actions = plan.step(at: Self.start)
        #expect(actions.first == .free(4))
        #expect(Self.made(actions) == [5])
        #expect(actions.count == 2)
    }

    @Test func `withdraws everything immediately`() throws {
        var plan = try Self.plan()
        Self.publish(Self.publication("abc"), &plan)
        let made = Self.made(plan.step(at: Self.start))
        Self.publish(nil, &plan)
        #expect(Set(Self.freed(plan.step(at: Self.start))) == Set(made))
        #expect(plan.step(at: Self.start) == [])
    }

    @Test func `follows addresses`() throws {
        var plan = try Self.plan()
        Self.publish(Self.publication("abc"), &plan)
        for id in Self.made(plan.step(at: Self.start)) { plan.established(id) }
        var table = try Fixture.table()
        table.apply(.addressGone(try Fixture.local(2, "10.0.0.1", 24)))
        table.apply(.address(try Fixture.local(2, "10.0.0.2", 24), flags: 0))
        plan.setInterfaces(table)
        #expect(
            plan.step(at: Self.start) == [
                .free(1), .make(5, records: [.address(host: "host.local", try Fixture.ip("10.0.0.2"))], interface: 2),
            ])
    }

    @Test func `publishes at most eight addresses per interface`() throws {
        var plan = try Self.plan()
        var table = try Fixture.table()
        for last in 1...100 { table.apply(.address(try Fixture.local(2, "10.0.0.\(last)", 24), flags: 0)) }
        plan.setInterfaces(table)
        Self.publish(Self.publication("abc"), &plan)
        #expect(Self.made(plan.step(at: Self.start)).count == 8 + 1 + 1)
    }

    @Test func `many bridges do not displace the addresses of the local network`() throws {
        func local(_ interface: UInt32, _ text: String) throws -> LocalAddress {
            LocalAddress(interface: interface, address: try #require(IPAddress(text: text)), prefixLength: 24)
        }
        let lan = try ["192.168.1.20", "2001:db8::20", "fe80::20"].map { try local(2, $0) }
        let bridges = try (3..<30).map { try local($0, "172.17.\($0).1") }
        let ordered = (lan + bridges).alternating
        #expect(ordered.first == lan[0])
        #expect(Array(ordered[1..<28]) == bridges)
        #expect(Array(ordered[28...]) == [lan[2], lan[1]])
    }

    @Test func `creates all groups again after avahi was lost`() throws {
        var plan = try Self.plan()
        Self.publish(Self.publication("abc"), &plan)
        let before = Self.made(plan.step(at: Self.start))
        plan.libraryLost()
        let after = Self.made(plan.step(at: Self.start))
        #expect(after.count == before.count)
        #expect(Set(after).isDisjoint(with: before))
    }

    @Test func `stops publishing a name that is taken`() throws {
        var plan = try Self.plan()
        Self.publish(Self.publication("abc"), &plan)
        let made = Self.made(plan.step(at: Self.start))
        let instances = [plan.collided(4), plan.collided(99)]
        #expect(instances == ["abc", nil])
        let freed = Self.freed(plan.step(at: Self.start)) + Self.freed(plan.step(at: Self.start + .seconds(3)))
        #expect(Set(freed) == Set(made))
        Self.publish(Self.publication("abc", text: "two"), &plan)
        #expect(plan.step(at: Self.start + .seconds(10)) == [])
        Self.publish(Self.publication("def", host: "other"), &plan)
        #expect(Self.made(plan.step(at: Self.start + .seconds(10))).count == 4)
    }

    @Test func `retries later`() throws {
        var plan = try Self.plan()
        Self.publish(Self.publication("abc"), &plan)
        _ = plan.step(at: Self.start)
        plan.failed(4, "not permitted", at: Self.start)
        #expect(plan.failure == "not permitted")
        #expect(plan.step(at: Self.start) == [.free(4)])
        #expect(plan.deadline == Self.start + PublicationPlan.retryInterval)
        #expect(plan.step(at: Self.start + .milliseconds(4999)) == [])
        #expect(Self.made(plan.step(at: Self.start + .seconds(5))) == [5])
        // The next attempt is later. The failure is kept until an attempt succeeds.
        plan.failed(5, "not permitted", at: Self.start + .seconds(5))
        #expect(plan.step(at: Self.start + .seconds(5)) == [.free(5)])
        #expect(plan.deadline == Self.start + .seconds(15))
        plan.libraryLost()
        #expect(Self.made(plan.step(at: Self.start + .seconds(6))) == [6, 7, 8, 9])
        #expect(plan.failure == "not permitted" && !plan.isAnnounced)
        plan.established(9)
        #expect(plan.failure == nil && plan.isAnnounced)
    }

    @Test func `the device is hidden if all addresses fail, not if one does`() throws {
        var plan = try Self.plan()
        Self.publish(Self.publication("abc"), &plan)
        _ = plan.step(at: Self.start)
        for id in [1, 2] as [UInt64] { plan.failed(id, "too many objects", at: Self.start) }
        #expect(plan.failure == nil)
        plan.failed(3, "too many objects", at: Self.start)
        #expect(plan.failure == "too many objects")
        _ = plan.setPublication(nil)
        #expect(plan.failure == nil)
    }

    @Test func `a library that creates no group hides the device, with any number of addresses`() throws {
        var plan = try Self.plan()
        Self.publish(Self.publication("abc"), &plan)
        _ = plan.step(at: Self.start)
        plan.failedAsWhole("not allowed")
        plan.libraryLost()
        #expect(plan.failure == "not allowed")
        for action in plan.step(at: Self.start + .seconds(6)) {
            if case .make(let id, _, _) = action { plan.established(id) }
        }
        #expect(plan.failure == nil && plan.isAnnounced)
    }

    @Test(arguments: [
        Publication(instance: "", host: "h", port: 1, text: []),
        Publication(instance: "a.b", host: "h", port: 1, text: []),
        Publication(instance: "a", host: "ä", port: 1, text: []),
        Publication(instance: "a", host: "h", port: 0, text: []),
        Publication(instance: "a", host: "h", port: 1, text: [Array(repeating: 0, count: 256)]),
        Publication(
            instance: "a", host: "h", port: 1, text: Array(repeating: [UInt8](repeating: 0, count: 255), count: 6)),
    ])
    func `rejects an invalid publication`(_ publication: Publication) throws {
        var plan = try Self.plan()
        let isFit = plan.setPublication(publication)
        #expect(!isFit)
        #expect(plan.step(at: Self.start) == [])
    }
}
