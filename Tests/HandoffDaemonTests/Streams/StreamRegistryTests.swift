import HandoffDaemon
import HandoffModel
import LoopIO
import Testing

/// The rights to open streams.
@Suite struct StreamRegistryTests {
    private static let start = MonotonicInstant(nanoseconds: 1_000_000_000_000)

    private static func at(_ seconds: Int) -> MonotonicInstant { start.advanced(by: .seconds(seconds)) }

    private func bytes(_ number: Int, _ count: Int = 16) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: $0 < 8 ? number >> ($0 * 8) : 7) }
    }

    private func device(_ number: Int) -> DeviceID { DeviceID(checked: bytes(number, DeviceID.byteCount)) }

    private func session(_ number: Int) -> SessionID { "session \(number)" }

    private func continuation(_ number: Int) -> ContinuationID { ContinuationID(checked: bytes(number)) }

    private func grant(_ device: Int, session: Int = 1) -> StreamRegistry.Grant {
        StreamRegistry.Grant(
            device: self.device(device), activity: ActivityID(checked: bytes(9)), session: self.session(session))
    }

    private func continued(_ device: Int, session: Int? = nil) -> StreamRegistry.Continued {
        StreamRegistry.Continued(
            device: self.device(device), activity: ActivityID(checked: bytes(9)),
            session: session.map { self.session($0) }, hasStreams: true)
    }

    private func registry(_ count: Int, for device: Int = 1, at seconds: Int = 0) -> StreamRegistry {
        var registry = StreamRegistry()
        for number in 0..<count { _ = registry.give(bytes(number), for: grant(device), now: Self.at(seconds)) }
        return registry
    }

    @Test func `a ticket can be used once`() {
        var registry = registry(2)
        let outcomes = (0..<2).map { _ in registry.take(bytes(0), from: device(1), now: Self.at(29)) }
        #expect(outcomes == [grant(1), nil])
        let other = registry.take(bytes(1), from: device(1), now: Self.at(29))
        #expect(other == grant(1))
        let unknown = registry.take(bytes(5), from: device(1), now: Self.at(29))
        #expect(unknown == nil)
    }

    @Test func `unused tickets are counted for each device`() {
        var registry = registry(20)
        #expect(registry.ticketCount(of: device(1), now: Self.at(29)) == 20)
        #expect(registry.ticketCount(of: device(2), now: Self.at(29)) == 0)
        _ = registry.take(bytes(0), from: device(1), now: Self.at(29))
        #expect(registry.ticketCount(of: device(1), now: Self.at(29)) == 19)
        #expect(registry.ticketCount(of: device(1), now: Self.at(30)) == 0)
    }

    @Test func `an expired ticket is invalid`() {
        var registry = registry(1)
        let late = registry.take(bytes(0), from: device(1), now: Self.at(30))
        #expect(late == nil)
        let earlier = registry.take(bytes(0), from: device(1), now: Self.at(1))
        #expect(earlier == nil)
    }

    @Test func `another device can neither use a ticket nor invalidate it`() {
        var registry = registry(1)
        let other = registry.take(bytes(0), from: device(2), now: Self.at(1))
        #expect(other == nil)
        let right = registry.take(bytes(0), from: device(1), now: Self.at(1))
        #expect(right == grant(1))
    }

    @Test func `each device has its own maximum number of tickets`() {
        var registry = registry(StreamRegistry.maxTickets)
        let outcomes = [
            registry.give(bytes(5000), for: grant(1), now: Self.at(29)),
            registry.give(bytes(5001), for: grant(2), now: Self.at(29)),
            registry.give(bytes(5002), for: grant(1), now: Self.at(30)),
        ]
        #expect(outcomes == [false, true, true])
        let kept = registry.take(bytes(5001), from: device(2), now: Self.at(31))
        #expect(kept == grant(2))
    }

    @Test func `tickets end with the owner's session and with membership`() {
        var registry = StreamRegistry()
        _ = registry.give(bytes(0), for: grant(1, session: 1), now: Self.at(0))
        _ = registry.give(bytes(1), for: grant(1, session: 2), now: Self.at(0))
        _ = registry.give(bytes(2), for: grant(2, session: 2), now: Self.at(0))
        registry.sessionEnded(session(1))
        registry.accountChanged(live: [device(1)])
        let outcomes = [
            registry.take(bytes(0), from: device(1), now: Self.at(1)),
            registry.take(bytes(1), from: device(1), now: Self.at(1)),
            registry.take(bytes(2), from: device(2), now: Self.at(1)),
        ]
        #expect(outcomes == [nil, grant(1, session: 2), nil])
    }

    @Test func `continuations end with their app and with membership`() {
        var registry = StreamRegistry()
        registry.began(continuation(0), continued(1, session: 1))
        registry.began(continuation(1), continued(1, session: 2))
        registry.began(continuation(2), continued(1))
        registry.began(continuation(3), continued(2))
        registry.began(continuation(4), continued(1))
        registry.sessionEnded(session(1))
        registry.accountChanged(live: [device(1)])
        registry.undone(continuation(4))
        registry.undone(continuation(4))
        #expect(
            (0..<5).map { registry.continuation(continuation($0)) }
                == [nil, continued(1, session: 2), continued(1), nil, nil])
    }

    @Test func `the oldest continuation is dropped for a new one`() {
        var registry = StreamRegistry()
        for number in 0..<StreamRegistry.maxContinuations { registry.began(continuation(number), continued(1)) }
        registry.undone(continuation(0))
        registry.began(continuation(5000), continued(1))
        #expect(registry.continuation(continuation(1)) == continued(1))
        registry.began(continuation(5001), continued(1))
        #expect(registry.continuation(continuation(1)) == nil)
        #expect(registry.continuation(continuation(2)) == continued(1))
        #expect(registry.continuation(continuation(5001)) == continued(1))
    }
}
