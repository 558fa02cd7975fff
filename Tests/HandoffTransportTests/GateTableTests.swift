import HandoffModel
import HandoffTransport
import LoopIO
import Testing

struct GateTableTests {
    private let start = MonotonicInstant(nanoseconds: 5_000_000_000)

    private func address(_ text: String) throws -> IPAddress {
        try #require(IPAddress(text: text))
    }

    @Test func `a new connection is always admitted and the oldest among equals is evicted`() throws {
        var table = GateTable(limits: TransportLimits())
        var ids: [GateTable.ID] = []
        for host in 0..<128 {
            let (id, evicted) = table.admit(from: try address("10.0.0.\(host)"), now: start)
            #expect(evicted == nil)
            ids.append(id)
        }
        for host in 128..<200 {
            let (id, evicted) = table.admit(from: try address("10.0.0.\(host)"), now: start)
            ids.append(id)
            #expect(evicted == ids[host - 128])
            #expect(table.count == 128)
        }
    }

    @Test func `a source evicts its own connections`() throws {
        var table = GateTable(limits: TransportLimits())
        let (other, _) = table.admit(from: try address("10.0.0.1"), now: start)
        let noisy = try address("10.0.0.2")
        let ids = (0..<8).map { _ in table.admit(from: noisy, now: start).id }
        for round in 0..<8 {
            #expect(table.admit(from: noisy, now: start).evicted == ids[round])
        }
        #expect(table.count == 9)
        #expect(table.expire(now: start + .seconds(1)).contains(other))
    }

    @Test(arguments: [
        ("2001:db8:1:2::1", "2001:db8:1:2::2", false), ("2001:db8:1:2::1", "2001:db8:1:2::1", true),
        ("10.0.0.1", "10.0.0.2", false), ("fe80::1%1", "fe80::2%1", false), ("fe80::1%1", "fe80::1%2", false),
        ("fe80::1%1", "fe80::1%1", true), ("10.0.0.1", "::ffff:10.0.0.1", true),
    ])
    func `connections of one address count together`(first: String, second: String, areTogether: Bool) throws {
        var limits = TransportLimits()
        limits.maxUngatedPerSource = 1
        var table = GateTable(limits: limits)
        let (id, _) = table.admit(from: try address(first), now: start)
        let (_, evicted) = table.admit(from: try address(second), now: start)
        #expect(evicted == (areTogether ? id : nil))
    }

    @Test func `a neighbour's link-local address evicts no other source`() throws {
        var table = GateTable(limits: TransportLimits())
        let honest = try (1..<60).map { table.admit(from: try address("fe80::a:\($0)%1"), now: start).id }
        let neighbour = try address("fe80::bad%1")
        let evicted = (0..<1000).compactMap { _ in table.admit(from: neighbour, now: start).evicted }
        #expect(evicted.count == 992)
        #expect(Set(evicted).isDisjoint(with: honest))
    }

    @Test(arguments: ["2001:db8:bad::", "fe80::bad:", "10.66.6."])
    func `a flood from many addresses of a network evicts its own connections`(prefix: String) throws {
        var table = GateTable(limits: TransportLimits())
        let honest = try ["2001:db8:1::1", "fe80::1%2", "10.0.0.1", "10.0.1.1"].map {
            table.admit(from: try address($0), now: start).id
        }
        let link = prefix.hasPrefix("fe80") ? "%1" : ""
        let evicted = try (1..<250).compactMap {
            table.admit(from: try address("\(prefix)\($0)\(link)"), now: start).evicted
        }
        #expect(evicted.count == 249 - 124)
        #expect(Set(evicted).isDisjoint(with: honest))
    }

    @Test func `in the busiest network the busiest address loses a connection`() throws {
        var table = GateTable(limits: TransportLimits())
        let honest = try address("fe80::1%1")
        let first = table.admit(from: honest, now: start).id
        let flood = try (0..<127).map { table.admit(from: try address("fe80::bad:\($0 / 8)%1"), now: start).id }
        let evicted = try (1..<16).map { _ in table.admit(from: try address("fe80::cafe%1"), now: start).evicted }
        #expect(evicted.first == flood.first)
        #expect(!evicted.contains(first))
    }

    @Test func `each timeout starts at the arrival`() throws {
        var table = GateTable(limits: TransportLimits())
        #expect(table.nextDeadline == nil)
        let (first, _) = table.admit(from: try address("10.0.0.1"), now: start)
        let (second, _) = table.admit(from: try address("10.0.0.1"), now: start + .milliseconds(400))
        #expect(table.nextDeadline == start + .seconds(1))
        #expect(table.expire(now: start + .milliseconds(999)) == [])
        #expect(table.expire(now: start + .milliseconds(1000)) == [first])
        #expect(table.nextDeadline == start + .milliseconds(1400))
        #expect(table.expire(now: start + .seconds(9)) == [second])
        #expect(table.count == 0)
    }

    @Test func `connections that passed or ended are removed`() throws {
        var table = GateTable(limits: TransportLimits())
        let (first, _) = table.admit(from: try address("10.0.0.1"), now: start)
        let (second, _) = table.admit(from: try address("10.0.0.1"), now: start)
        table.remove(first)
        table.remove(first)
        #expect(table.count == 1)
        #expect(table.expire(now: start + .seconds(2)) == [second])
    }

    @Test func `without a limit per source the busiest source loses a connection`() throws {
        var limits = TransportLimits()
        limits.maxUngated = 3
        limits.maxUngatedPerSource = .max
        limits.gateTimeout = .seconds(2)
        var table = GateTable(limits: limits)
        let honest = table.admit(from: try address("10.0.0.1"), now: start)
        let flood = try (0..<2).map { _ in table.admit(from: try address("10.0.0.2"), now: start).id }
        #expect(honest.evicted == nil)
        #expect(table.admit(from: try address("10.0.0.2"), now: start).evicted == flood[0])
        #expect(table.admit(from: try address("10.0.0.3"), now: start).evicted == flood[1])
        #expect(table.count == 3)
        #expect(table.nextDeadline == start + .seconds(2))
    }
}
