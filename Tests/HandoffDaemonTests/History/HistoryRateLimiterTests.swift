import HandoffControl
import HandoffDaemon
import HandoffModel
import LoopIO
import Testing

/// The limits of the entries that other devices cause in the continuation log.
@Suite struct HistoryRateLimiterTests {
    private let start = MonotonicInstant(nanoseconds: 1_000_000_000)

    private func entry(
        _ device: UInt8 = 1, _ event: ControlLogEntry.Event = .payload, time: Double = 0, sent: Int64? = nil
    ) -> ControlLogEntry {
        ControlLogEntry(
            time: time, event: event, direction: .out, type: "com.example.a",
            device: DeviceID(checked: [UInt8](repeating: device, count: DeviceID.byteCount)), deviceName: "laptop",
            outcome: "given", sent: sent)
    }

    /// A limiter in which a device has used up its burst.
    private func spent(_ device: UInt8 = 1) -> HistoryRateLimiter {
        var limiter = HistoryRateLimiter()
        for _ in 0..<HistoryRateLimiter.burst { #expect(limiter.take(entry(device), at: start) != nil) }
        #expect(limiter.next == nil)
        return limiter
    }

    @Test
    func `entries beyond the burst wait for the next interval, merged by kind`() {
        var limiter = spent()
        for time in 1...5 { #expect(limiter.take(entry(time: Double(time), sent: 10), at: start) == nil) }
        #expect(limiter.take(entry(1, .continuation), at: start) == nil)
        #expect(limiter.next == start + HistoryRateLimiter.interval)
        #expect(limiter.due(at: start).isEmpty)

        var together = entry(time: 5, sent: 50)
        together.count = 5
        #expect(limiter.due(at: start + HistoryRateLimiter.interval) == [together])
        #expect(limiter.next == start + HistoryRateLimiter.interval * 2)
        #expect(limiter.due(at: start + HistoryRateLimiter.interval * 9) == [entry(1, .continuation)])
        #expect(limiter.next == nil)
    }

    @Test
    func `no entry overtakes a waiting one`() {
        var limiter = spent()
        #expect(limiter.take(entry(), at: start) == nil)
        #expect(limiter.take(entry(1, .continuation), at: start + HistoryRateLimiter.interval) == nil)
        #expect(
            limiter.due(at: start + HistoryRateLimiter.interval * 2).compactMap(\.event.known) == [
                .payload, .continuation,
            ])
    }

    @Test
    func `one device does not use up the share of another`() {
        var limiter = spent()
        #expect(limiter.take(entry(1), at: start) == nil)
        #expect(limiter.take(entry(2), at: start) == entry(2))
    }

    @Test
    func `a member that poses as hundreds of devices is bound by the common limit, and every entry is counted`() {
        var limiter = HistoryRateLimiter()
        let devices = UInt8(1)...250
        var written = 0
        for device in devices {
            for _ in 0..<HistoryRateLimiter.burst where limiter.take(entry(device), at: start) != nil { written += 1 }
        }
        #expect(written == HistoryRateLimiter.burstOfAll)
        #expect(limiter.next == start + HistoryRateLimiter.intervalOfAll)
        #expect(limiter.due(at: start + HistoryRateLimiter.intervalOfAll).count == 1)
        let hour = limiter.due(at: start + .seconds(3600))
        #expect(hour.count <= 119 && !hour.isEmpty)
    }

    @Test
    func `a day of a hundred requests a minute causes as many entries as the rate allows, and all are counted`() {
        var limiter = HistoryRateLimiter()
        var written: [ControlLogEntry] = []
        for minute in 0..<1440 {
            let now = start + .seconds(60 * minute)
            written += limiter.due(at: now)
            for _ in 0..<100 { written += limiter.take(entry(), at: now).map { [$0] } ?? [] }
        }
        #expect(written.count == HistoryRateLimiter.burst + 719)
        #expect((written + limiter.drain()).map(\.count).reduce(0, +) == 144_000)
    }

    @Test
    func `waiting entries are returned once at the end`() {
        var limiter = spent()
        #expect(limiter.take(entry(), at: start) == nil)
        #expect(limiter.drain() == [entry()])
        #expect(limiter.drain().isEmpty && limiter.next == nil)
    }

    @Test
    func `sums that overflow never trap`() {
        var limiter = spent()
        for _ in 0..<3 { #expect(limiter.take(entry(sent: .max), at: start) == nil) }
        #expect(limiter.drain().first?.sent == .max)
        var late = HistoryRateLimiter()
        let end = MonotonicInstant(nanoseconds: .max)
        for _ in 0..<HistoryRateLimiter.burst * 2 { _ = late.take(entry(), at: end) }
        #expect(late.due(at: end).count <= HistoryRateLimiter.burst)
    }
}
