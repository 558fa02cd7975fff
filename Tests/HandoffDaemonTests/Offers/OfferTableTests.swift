import HandoffControl
import HandoffDaemon
import HandoffModel
import HandoffTestSupport
import Testing

/// The events that watchers receive when offers change.
struct OfferTableTests {
    private var table = OfferTable()

    private func offer(
        _ activity: UInt8, of device: UInt8, title: String = "Draft", age: Double = 0, kept: ControlKept? = nil
    ) throws -> OfferedActivity {
        OfferedActivity(
            id: Sample.activityID(activity), type: try #require(ActivityType("com.example.reading")), title: title,
            team: nil,
            device: Sample.device(device), deviceName: "Telephone", deviceKind: .phone, streams: false,
            hasWebpageURL: false, age: age, opens: ControlOpens(kind: .nothing), kept: kept)
    }

    private func words(_ events: [WatchEvent]) -> [String] {
        events.map { event in
            let activity = event.activity
            return "\(event.name) \(activity?.title ?? "") of \(activity?.device.bytes.last ?? 0)"
        }
    }

    @Test mutating func `the difference is reported, removals first, and age alone is no difference`() throws {
        let first = try table.update([offer(1, of: 1), offer(2, of: 2, title: "Letter")])
        #expect(words(first) == ["added Draft of 1", "added Letter of 2"])
        #expect(try table.update([offer(1, of: 1, age: 9), offer(2, of: 2, title: "Letter")]).isEmpty)
        let then = try table.update([offer(3, of: 1, title: "New"), offer(2, of: 2, title: "Letters")])
        #expect(words(then) == ["removed Draft of 1", "added New of 1", "changed Letters of 2"])
    }

    @Test mutating func `a kept activity is reported once, although its times are computed on each access`() throws {
        func kept(_ state: ControlKept.State, _ seconds: Double) throws -> OfferedActivity {
            table.settled(try offer(1, of: 1, kept: ControlKept(state, since: seconds, asOf: seconds)))
        }
        _ = try table.update([offer(1, of: 1)])
        #expect(try words(table.update([kept(.asleep, 1000)])) == ["changed Draft of 1"])
        #expect(try table.update([kept(.asleep, 1001)]).isEmpty)
        #expect(try table.update([kept(.asleep, 999)]).isEmpty)
        #expect(try words(table.update([kept(.asleep, 1030)])) == ["changed Draft of 1"])
        #expect(try words(table.update([kept(.offline, 1030)])) == ["changed Draft of 1"])
        #expect(try words(table.update([offer(1, of: 1)])) == ["changed Draft of 1"])
    }

    @Test mutating func `the offers of one device do not affect those of others`() throws {
        _ = try table.update([offer(1, of: 1), offer(2, of: 2), offer(3, of: 3)])
        let events = try table.update([offer(1, of: 1, title: "Letter"), offer(4, of: 1)], of: [Sample.device(1)])
        #expect(words(events) == ["changed Letter of 1", "added Draft of 1"])
        #expect(words(table.update([], of: [Sample.device(2), Sample.device(9)])) == ["removed Draft of 2"])
        #expect(
            try table.update([offer(1, of: 1, title: "Letter"), offer(4, of: 1), offer(3, of: 3)]).isEmpty)
    }
}
