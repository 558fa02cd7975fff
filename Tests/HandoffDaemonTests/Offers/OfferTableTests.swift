import HandoffControl
import HandoffDaemon
import HandoffModel
import HandoffTestSupport
import Testing

/// The events that watchers receive when offers change.
struct OfferTableTests {
    private var table = OfferTable()

    private func offer(
        _ activity: UInt8, of device: UInt8, title: String = "Draft", age: Double = 0
    ) throws -> OfferedActivity {
        OfferedActivity(
            id: Sample.activityID(activity), type: try #require(ActivityType("com.example.reading")), title: title,
            team: nil,
            device: Sample.device(device), deviceName: "Telephone", deviceKind: .phone, streams: false,
            hasWebpageURL: false, age: age, opens: ControlOpens(kind: .nothing))
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

    @Test mutating func `the offers of one device do not affect those of others`() throws {
        _ = try table.update([offer(1, of: 1), offer(2, of: 2), offer(3, of: 3)])
        let events = try table.update([offer(1, of: 1, title: "Letter"), offer(4, of: 1)], of: [Sample.device(1)])
        #expect(words(events) == ["changed Letter of 1", "added Draft of 1"])
        #expect(words(table.update([], of: [Sample.device(2), Sample.device(9)])) == ["removed Draft of 2"])
        #expect(
            try table.update([offer(1, of: 1, title: "Letter"), offer(4, of: 1), offer(3, of: 3)]).isEmpty)
    }
}
