import HandoffConfiguration
import HandoffDaemon
import HandoffDesktop
import LoopIO
import Testing
import Timing

/// Whether the user's sessions let anything be advertised.
@Suite struct SessionGateTests {
    private static let clock: UInt64 = 1_700_000_000

    private var gate = SessionGate(delays: SessionDelays())

    private func at(_ seconds: UInt64) -> MonotonicInstant {
        MonotonicInstant(nanoseconds: (1000 + seconds) * 1_000_000_000)
    }

    /// Tells the gate of its sessions, so many seconds after the beginning.
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
    mutating func `nothing is advertised before anything is known; without logind everything is`() {
        #expect(gate.reason == .unknown && gate.isQuiet)
        take(.absent, after: 0)
        #expect(gate.reason == nil && !gate.isQuiet)
    }

    @Test
    mutating func `while logind is there and does not answer, the screen may be locked`() {
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
        #expect(gate.isQuiet, "nobody is logged in")
        take([LoginSession(id: "c1", sessionClass: "greeter", type: "wayland")], after: 2)
        #expect(gate.isQuiet, "the screen of the login belongs to nobody")
        take([desktop()], after: 3)
        #expect(!gate.isQuiet)
        var closing = desktop()
        closing.state = "closing"
        take([closing], after: 4)
        #expect(gate.isQuiet, "the user has logged out")
    }

    @Test
    mutating func `a lock counts after eight seconds, and ends at once`() {
        take([desktop()], after: 0)
        take([desktop(locked: true)], after: 10)
        #expect(gate.isLocked && gate.reason == nil && gate.deadline == at(18))
        #expect(gate.isQuiet, "the screen counts as locked at once")
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
    mutating func `a lock that ends in time is no lock`() {
        take([desktop()], after: 0)
        take([desktop(locked: true)], after: 10)
        take([desktop()], after: 17)
        gate.deadlinePassed(now: at(18))
        #expect(gate.reason == nil && gate.deadline == nil)
    }

    @Test
    mutating func `idleness counts two minutes after it began, also when it began before it was heard of`() {
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
    mutating func `a screen that falls idle and is then locked is closed at the earlier end`() {
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
    mutating func `a screen that is locked at the start is closed at once, until it is unlocked`() {
        take([desktop(locked: true)], after: 0)
        #expect(gate.reason == .notYetUnlocked)
        take([desktop(locked: true, idleSince: 0)], after: 500)
        #expect(gate.reason == .notYetUnlocked)
        // The desktop takes its hint of idleness back a moment later: who unlocks is there.
        take([desktop(idleSince: 0)], after: 600)
        #expect(gate.reason == nil && gate.deadline == at(720))
        take([desktop()], after: 601)
        #expect(gate.reason == nil && gate.deadline == nil)
    }

    @Test
    mutating func `one screen that is in use is enough, and two that are not used in different ways are not`() {
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
    mutating func `when nobody can say any more, what was known stays`() {
        take([desktop()], after: 0)
        take([desktop(locked: true)], after: 10)
        gate.deadlinePassed(now: at(18))
        take(.silent, after: 20)
        take(.absent, after: 21)
        #expect(gate.reason == .locked && gate.isQuiet)
    }

    @Test
    mutating func `without delays nothing ever closes, but at the start`() {
        gate = SessionGate(delays: SessionDelays(lock: nil, idle: nil))
        take([desktop()], after: 0)
        take([desktop(idleSince: 0)], after: 1)
        #expect(gate.deadline == nil)
        take([desktop(locked: true)], after: 2)
        #expect(gate.deadline == nil && gate.reason == nil && gate.isLocked)
    }

    @Test
    mutating func `other delays count from now on`() {
        take([desktop()], after: 0)
        take([desktop(locked: true)], after: 10)
        gate.deadlinePassed(now: at(18))
        gate.take(SessionDelays(lock: .seconds(100)), unixSeconds: Self.clock + 20, now: at(20))
        #expect(gate.reason == nil && gate.deadline == at(120))
    }

    @Test(arguments: [0, 1, UInt64.max, UInt64.max / 1_000_000_000])
    mutating func `times that nobody can have never trap`(_ since: UInt64) {
        var session = desktop()
        session.isIdle = true
        session.idleSince = since
        gate.take(.sessions([session]), unixSeconds: .max, now: at(0))
        gate.take(.sessions([session]), unixSeconds: 0, now: MonotonicInstant(nanoseconds: .max))
    }
}
