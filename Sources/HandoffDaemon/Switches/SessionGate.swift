package import HandoffConfiguration
package import HandoffDesktop
import LoopIO
package import Timing

/// Whether the user's sessions let anything be advertised. Plain values with time as a parameter.
///
/// A screen that is locked, or that nobody uses, stands for a user who is away: after a while nothing is advertised.
/// Where no desktop runs, nobody can be away from it. Diagram: `docs/state-machines/session-gate.md`.
package struct SessionGate: Sendable {
    /// Why nothing is advertised.
    package enum Reason: Sendable, Equatable {
        /// Nobody has said yet whether the screen is locked.
        case unknown
        /// The screen was locked when the daemon started, and was not unlocked since.
        case notYetUnlocked
        /// All screens are locked.
        case locked
        /// Nobody uses any of them.
        case idle
    }

    private enum State: Equatable {
        /// The state while nobody has said yet what sessions there are, or that nobody follows them.
        case unknown
        /// The state while the user is there, or no desktop runs.
        case open
        /// The state while the user is away, and not long enough.
        case closing(Reason, at: MonotonicInstant?)
        /// The state while nothing is advertised.
        case closed(Reason)
    }

    /// What all sessions together say.
    private enum Presence {
        case present
        case locked
        /// Nobody uses them, for so many seconds.
        case idle(seconds: UInt64)
    }

    private var delays: SessionDelays
    private var state = State.unknown
    /// Whether all screens were locked when they were last looked at.
    package private(set) var isLocked = false
    /// Whether nobody looks at the screen, or others might: then what other devices do stays off it. So it is while nobody has
    /// said what sessions there are, while all screens are locked, and while nobody is logged in at all.
    package var isQuiet: Bool {
        if case .unknown = state { return true }
        return isLocked || isDeserted
    }
    /// Whether it is known that the user has no session.
    private var isDeserted: Bool { sessions.map { !$0.contains(where: \.isOfPerson) } ?? false }
    /// When a lock ended last: who unlocks is there, whatever the desktop still says of idleness.
    private var unlocked: MonotonicInstant?
    /// What was said last, to be judged again under other delays.
    private var sessions: [LoginSession]?

    /// A gate that is closed until it is told of sessions.
    package init(delays: SessionDelays) {
        self.delays = delays
    }

    /// Why nothing is advertised; nil while it is.
    package var reason: Reason? {
        switch state {
        case .unknown: .unknown
        case .open, .closing: nil
        case .closed(let reason): reason
        }
    }

    /// When `deadlinePassed` is to be called.
    package var deadline: MonotonicInstant? {
        if case .closing(_, let deadline) = state { deadline } else { nil }
    }

    /// Takes the sessions as they are. When nobody can say, what was known stays: before the first answer the screen may be
    /// locked, unless there is nobody who could ever say so.
    package mutating func take(_ report: LoginReport, unixSeconds: UInt64, now: MonotonicInstant) {
        switch report {
        case .sessions(let sessions): take(sessions, unixSeconds: unixSeconds, now: now)
        case .absent: if case .unknown = state { state = .open }
        case .silent: break
        }
    }

    private mutating func take(_ sessions: [LoginSession], unixSeconds: UInt64, now: MonotonicInstant) {
        self.sessions = sessions
        let presence = Self.presence(sessions, unixSeconds: unixSeconds)
        let wasLocked = isLocked
        if case .locked = presence { isLocked = true } else { isLocked = false }
        if wasLocked, !isLocked { unlocked = now }
        switch presence {
        case .present: state = .open
        case .locked: lock(now)
        case .idle(let seconds): idle(seconds, now)
        }
        deadlinePassed(now: now)
    }

    /// The moment of `deadline` has come.
    package mutating func deadlinePassed(now: MonotonicInstant) {
        guard case .closing(let reason, let deadline?) = state, now >= deadline else { return }
        state = .closed(reason)
    }

    /// Takes other delays, from now on.
    package mutating func take(_ delays: SessionDelays, unixSeconds: UInt64, now: MonotonicInstant) {
        guard delays != self.delays else { return }
        self.delays = delays
        guard case .closed(.notYetUnlocked) = state else {
            if case .unknown = state { return }
            // Whoever is away is so from now on: the moment at which the lock began is not kept.
            state = .open
            if let sessions { take(sessions, unixSeconds: unixSeconds, now: now) }
            return
        }
    }

    private mutating func lock(_ now: MonotonicInstant) {
        switch state {
        case .unknown: state = .closed(.notYetUnlocked)
        case .open: state = .closing(.locked, at: delays.lock.map { now.advanced(by: $0) })
        case .closing(.idle, let idleEnd):
            let ends = [idleEnd, delays.lock.map { now.advanced(by: $0) }].compactMap(\.self)
            state = .closing(.locked, at: ends.min())
        case .closing: break
        case .closed(.idle): state = .closed(.locked)
        case .closed: break
        }
    }

    private mutating func idle(_ seconds: UInt64, _ now: MonotonicInstant) {
        guard let delay = delays.idle else {
            state = .open
            return
        }
        let (past, underflow) = now.nanoseconds.subtractingReportingOverflow(
            seconds.multipliedReportingOverflow(by: 1_000_000_000).overflow ? .max : seconds * 1_000_000_000)
        let since = max(
            MonotonicInstant(nanoseconds: underflow ? 0 : past), unlocked ?? MonotonicInstant(nanoseconds: 0))
        state = .closing(.idle, at: since.advanced(by: delay))
    }

    private static func presence(_ sessions: [LoginSession], unixSeconds: UInt64) -> Presence {
        let graphical = sessions.filter(\.isGraphical)
        guard !graphical.isEmpty else { return .present }
        if graphical.allSatisfy(\.isLocked) { return .locked }
        guard graphical.allSatisfy({ $0.isLocked || $0.isIdle }) else { return .present }
        // The one that was used last counts.
        let latest = graphical.filter(\.isIdle).map(\.idleSince).max() ?? 0
        return .idle(seconds: latest == 0 || latest > unixSeconds ? 0 : unixSeconds - latest)
    }
}
