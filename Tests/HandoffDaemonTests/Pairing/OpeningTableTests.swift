import HandoffDaemon
import LoopIO
import Testing
import Timing

@Suite struct OpeningTableTests {
    private let start = MonotonicInstant(nanoseconds: 1_000_000_000)

    private func address(_ text: String) throws -> IPAddress { try #require(IPAddress(text: text)) }

    @Test func theOldestOfTheBusiestSourceMakesRoom() throws {
        var table = OpeningTable(limit: 3)
        let honest = table.admit(from: try address("10.0.0.1"), until: start)
        let flood = try (0..<2).map { _ in table.admit(from: try address("10.0.0.2"), until: start).id }
        #expect(honest.evicted == nil)

        #expect(table.admit(from: try address("10.0.0.2"), until: start).evicted == flood[0])
        #expect(table.admit(from: try address("10.0.0.3"), until: start).evicted == flood[1])
        #expect(table.count == 3)
    }

    @Test func aHostWithAWholeNetworkIsOneSource() throws {
        var table = OpeningTable(limit: 3)
        _ = table.admit(from: try address("2001:db8:1::1"), until: start)
        let flood = try (0..<2).map { table.admit(from: try address("2001:db8:2::\($0 + 1)"), until: start).id }
        #expect(table.admit(from: try address("2001:db8:2::9"), until: start).evicted == flood[0])
    }

    @Test func timeRunsOutInWhateverOrder() throws {
        var table = OpeningTable(limit: 3)
        let late = table.admit(from: try address("10.0.0.1"), until: start.advanced(by: .seconds(2))).id
        let soon = table.admit(from: try address("10.0.0.2"), until: start.advanced(by: .seconds(1))).id
        #expect(table.nextDeadline == start.advanced(by: .seconds(1)))
        #expect(table.expire(now: start.advanced(by: .seconds(1))) == [soon])
        table.remove(late)
        #expect(table.nextDeadline == nil)
        #expect(table.expire(now: start.advanced(by: .seconds(9))) == [])
    }
}
