import HandoffControl
import HandoffDaemon
import HandoffModel
import Testing

@Suite struct StreamOutcomesTests {
    @Test func `an outcome is kept for an hour, also after it was returned`() throws {
        let id = StreamID(checked: Array(repeating: 7, count: StreamID.byteCount))
        let end = MonotonicInstant(nanoseconds: 1)
        var outcomes = StreamOutcomes()
        let reply = AwaitStreamReply(outcome: .ended, message: "", sent: 1, received: 2)
        #expect(outcomes.ended(id, reply, now: end).isEmpty)
        for minutes in [0, 59, 59] {
            #expect(outcomes.outcome(of: id, now: end + .seconds(minutes * 60))?.received == 2)
        }
        #expect(outcomes.outcome(of: id, now: end + .seconds(3600)) == nil)
    }
}
