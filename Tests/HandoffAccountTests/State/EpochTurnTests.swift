import HandoffModel
import HandoffProtocol
import Testing

@testable import HandoffAccount

/// When a device creates an epoch that others could create first.
@Suite struct EpochTurnTests {
    private static func after(_ milliseconds: UInt64) -> MonotonicInstant {
        MonotonicInstant(nanoseconds: 1_000_000_000 + milliseconds * 1_000_000)
    }

    private let missing = EpochDue(reason: .missing, after: .milliseconds(1500))

    @Test
    func `the wait ends, however often it is queried`() {
        var turn = EpochTurn()
        #expect(turn.rest(of: missing, at: Self.after(0)) == .milliseconds(1500))
        #expect(turn.rest(of: missing, at: Self.after(600)) == .milliseconds(900))
        #expect(turn.rest(of: missing, at: Self.after(1500)) == .zero)
        #expect(turn.rest(of: missing, at: Self.after(9000)) == .zero)
    }

    @Test
    func `an epoch created by another device ends the wait, and the next wait starts from the beginning`() {
        var turn = EpochTurn()
        _ = turn.rest(of: missing, at: Self.after(0))
        #expect(turn.rest(of: nil, at: Self.after(1000)) == nil)
        #expect(turn.rest(of: missing, at: Self.after(2000)) == .milliseconds(1500))
    }

    @Test
    func `another reason restarts the wait`() {
        var turn = EpochTurn()
        _ = turn.rest(of: missing, at: Self.after(0))
        let exposed = EpochDue(reason: .exposed, after: .milliseconds(500))
        #expect(turn.rest(of: exposed, at: Self.after(1400)) == .milliseconds(500))
        #expect(turn.rest(of: exposed, at: Self.after(1900)) == .zero)
    }

    @Test
    func `the wait for a key is that of the account state`() {
        var turn = EpochTurn()
        #expect(turn.rest(of: EpochDue(reason: .withheld, after: .seconds(30)), at: Self.after(0)) == .seconds(30))
        #expect(turn.rest(of: EpochDue(reason: .withheld, after: .zero), at: Self.after(1)) == .zero)
    }
}
