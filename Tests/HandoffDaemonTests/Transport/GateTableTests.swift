import HandoffDaemon
import LoopIO
import Testing

struct GateTableTests {
    private let start = LoopInstant(nanoseconds: 5_000_000_000)

    private func address(_ text: String) throws -> IPAddress {
        try #require(IPAddress(text: text))
    }

    @Test func aNewOneIsAlwaysTakenAndTheOldestOfAllPays() throws {
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

    @Test func oneSourceDisplacesItself() throws {
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
        ("2001:db8:1:2::1", "2001:db8:1:2:ffff::9", true), ("2001:db8:1:2::1", "2001:db8:1:3::1", false),
        ("10.0.0.1", "10.0.0.2", false), ("fe80::1%1", "fe80::2%1", true), ("fe80::1%1", "fe80::1%2", false),
        ("10.0.0.1", "::ffff:10.0.0.1", true),
    ])
    func addressesOfOneHostCountTogether(first: String, second: String, areTogether: Bool) throws {
        var limits = TransportLimits()
        limits.ungatedPerSource = 1
        var table = GateTable(limits: limits)
        let (id, _) = table.admit(from: try address(first), now: start)
        let (_, evicted) = table.admit(from: try address(second), now: start)
        #expect(evicted == (areTogether ? id : nil))
    }

    @Test func timeRunsFromTheArrivalOfEach() throws {
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

    @Test func whoPassedOrEndedIsForgotten() throws {
        var table = GateTable(limits: TransportLimits())
        let (first, _) = table.admit(from: try address("10.0.0.1"), now: start)
        let (second, _) = table.admit(from: try address("10.0.0.1"), now: start)
        table.remove(first)
        table.remove(first)
        #expect(table.count == 1)
        #expect(table.expire(now: start + .seconds(2)) == [second])
    }
}
