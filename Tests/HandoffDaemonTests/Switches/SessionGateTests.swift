import HandoffHandlers
import HandoffModel
import LoopIO
import Testing

@testable import HandoffDaemon

/// Whether the user's sessions allow advertising.
@Suite struct SessionGateTests {
    private static let clock: UInt64 = 1_700_000_000

    private var gate = SessionGate(delays: SessionDelays())

    private func at(_ seconds: UInt64) -> MonotonicInstant {
        MonotonicInstant(nanoseconds: (1000 + seconds) * 1_000_000_000)
    }

    /// Reports sessions to the gate, this many seconds after the beginning.
    private mutating func take(_ sessions: [LoginSession], after seconds: UInt64) {
        take(.sessions(sessions), after: seconds)
    }

    private mutating func take(_ report: LoginReport, after seconds: UInt64) {
        gate.take(report, unixSeconds: Self.clock + seconds, now: at(seconds))
    }

    private func desktop(locked: Bool = false, idleSince: UInt64? = nil) -> LoginSession {
        LoginSession(
            id: "2", type: "wayland", isLocked: locked, isIdle: idleSince != nil,
            idleSince: idleSince.map { Self.clock + $0 } ?? 0)
    }

    @Test
    mutating func `nothing is advertised before the first report, and without logind everything is`() {
        #expect(gate.reason == .unknown && gate.isQuiet)
        take(.absent, after: 0)
        #expect(gate.reason == nil && !gate.isQuiet)
    }

    @Test
    mutating func `while logind does not answer, the screen may be locked`() {
        take(.silent, after: 5)
        take(.silent, after: 500)
        #expect(gate.reason == .unknown && gate.isQuiet)
        gate.take(SessionDelays(lock: .seconds(100)), unixSeconds: Self.clock + 501, now: at(501))
        #expect(gate.reason == .unknown && gate.isQuiet)
        take([desktop(locked: true)], after: 502)
        #expect(gate.reason == .notYetUnlocked && gate.isQuiet)
        take(.silent, after: 503)
        take(.absent, after: 504)
        #expect(gate.reason == .notYetUnlocked && gate.isQuiet)
    }

    @Test
    mutating func `sessions without a desktop are neither locked nor idle`() {
        take([LoginSession(id: "1", type: "tty", isLocked: true, isIdle: true)], after: 0)
        #expect(gate.reason == nil && gate.deadline == nil && !gate.isQuiet)
        take([], after: 1)
        #expect(gate.reason == nil && gate.deadline == nil)
        #expect(gate.isQuiet, "the user is not logged in")
        take([LoginSession(id: "c1", sessionClass: "greeter", type: "wayland")], after: 2)
        #expect(gate.isQuiet, "a login screen is not a session of the user")
        take([desktop()], after: 3)
        #expect(!gate.isQuiet)
        var closing = desktop()
        closing.state = "closing"
        take([closing], after: 4)
        #expect(gate.isQuiet, "the user has logged out")
    }

    @Test
    mutating func `a lock takes effect after eight seconds, and ends immediately`() {
        take([desktop()], after: 0)
        take([desktop(locked: true)], after: 10)
        #expect(gate.isLocked && gate.reason == nil && gate.deadline == at(18))
        #expect(gate.isQuiet, "the screen counts as locked immediately")
        take([desktop(locked: true)], after: 12)
        #expect(gate.deadline == at(18))
        gate.deadlinePassed(now: at(17))
        #expect(gate.reason == nil)
        gate.deadlinePassed(now: at(18))
        #expect(gate.reason == .locked && gate.deadline == nil)
        take([desktop()], after: 30)
        #expect(gate.reason == nil && !gate.isLocked && !gate.isQuiet)
    }

    @Test
    mutating func `a lock that ends in time has no effect`() {
        take([desktop()], after: 0)
        take([desktop(locked: true)], after: 10)
        take([desktop()], after: 17)
        gate.deadlinePassed(now: at(18))
        #expect(gate.reason == nil && gate.deadline == nil)
    }

    @Test
    mutating func `idleness takes effect two minutes after its start, even if it started before it was reported`() {
        take([desktop()], after: 0)
        take([desktop(idleSince: 100)], after: 160)
        #expect(gate.reason == nil && gate.deadline == at(220))
        gate.deadlinePassed(now: at(220))
        #expect(gate.reason == .idle && !gate.isQuiet)
        take([desktop()], after: 300)
        #expect(gate.reason == nil)
        take([desktop(idleSince: 300)], after: 500)
        #expect(gate.reason == .idle)
    }

    @Test
    mutating func `a screen that becomes idle and is then locked is closed at the earlier time`() {
        take([desktop()], after: 0)
        take([desktop(idleSince: 0)], after: 1)
        take([desktop(locked: true, idleSince: 0)], after: 2)
        #expect(gate.deadline == at(10))
        gate.deadlinePassed(now: at(10))
        #expect(gate.reason == .locked)

        take([desktop(idleSince: 11)], after: 11)
        take([desktop(locked: true)], after: 130)
        #expect(gate.deadline == at(131))
    }

    @Test
    mutating func `a screen that is locked at the start is closed immediately, until it is unlocked`() {
        take([desktop(locked: true)], after: 0)
        #expect(gate.reason == .notYetUnlocked)
        take([desktop(locked: true, idleSince: 0)], after: 500)
        #expect(gate.reason == .notYetUnlocked)
        // The desktop clears its idle hint a moment later. An unlock means that the user is
        // present.
        take([desktop(idleSince: 0)], after: 600)
        #expect(gate.reason == nil && gate.deadline == at(720))
        take([desktop()], after: 601)
        #expect(gate.reason == nil && gate.deadline == nil)
    }

    @Test
    mutating func `one screen in use is enough, and two that are unused in different ways are not`() {
        var other = desktop()
        other.id = "3"
        take([desktop(locked: true), other], after: 0)
        #expect(gate.reason == nil && gate.deadline == nil)
        other.isIdle = true
        other.idleSince = Self.clock
        take([desktop(locked: true), other], after: 10)
        #expect(gate.deadline == at(120))
    }

    @Test
    mutating func `when reports are no longer available, the last state remains in force`() {
        take([desktop()], after: 0)
        take([desktop(locked: true)], after: 10)
        gate.deadlinePassed(now: at(18))
        take(.silent, after: 20)
        take(.absent, after: 21)
        #expect(gate.reason == .locked && gate.isQuiet)
    }

    @Test
    mutating func `without delays the gate never closes, except at the start`() {
        gate = SessionGate(delays: SessionDelays(lock: nil, idle: nil))
        take([desktop()], after: 0)
        take([desktop(idleSince: 0)], after: 1)
        #expect(gate.deadline == nil)
        take([desktop(locked: true)], after: 2)
        #expect(gate.deadline == nil && gate.reason == nil && gate.isLocked)
    }

    @Test
    mutating func `other delays count from now`() {
        take([desktop()], after: 0)
        take([desktop(locked: true)], after: 10)
        gate.deadlinePassed(now: at(18))
        gate.take(SessionDelays(lock: .seconds(100)), unixSeconds: Self.clock + 20, now: at(20))
        #expect(gate.reason == nil && gate.deadline == at(120))
    }

    @Test(arguments: [0, 1, UInt64.max, UInt64.max / 1_000_000_000])
    mutating func `impossible times never trap`(_ since: UInt64) {
        var session = desktop()
        session.isIdle = true
        session.idleSince = since
        gate.take(.sessions([session]), unixSeconds: .max, now: at(0))
        gate.take(.sessions([session]), unixSeconds: 0, now: MonotonicInstant(nanoseconds: .max))
    }
}
