import HandoffHandlers
import HandoffModel
import LoopIO

/// Determines whether the user's sessions allow advertising. Plain values with time as a parameter.
/// Driven by `SessionWatch`, which receives the user's sessions from `handoff-desktop`
/// (`DesktopSessions`). That program follows org.freedesktop.login1 on the system bus
/// (`LoginSessions`).
///
/// A locked or idle screen means that the user is away. After a while nothing is advertised. Only
/// the user's graphical sessions count (`x11`, `wayland`, `mir`, of class `user`, not closing), all
/// together. They are *locked* if each of them is (`LockedHint`), *idle* if each is locked or idle
/// (`IdleHint`), otherwise the user is *present*. Without a graphical session the user is present:
/// a machine that is used over SSH cannot be locked, and `IdleHint` of a lingering user is always
/// true.
///
/// ```
///         present                    locked, idle              the delay is over
/// unknown ───────► open ────────────────────────────► closing ─────────────────► closed
///    │                                                                            ▲
///    └──────────────── locked: not yet unlocked ──────────────────────────────────┘
///                                every state: present ──► open
/// ```
///
/// - *Locked* closes after `lock-delay` (8 s). In `closing` because of *idle*, the earlier of both
///   ends counts.
/// - *Idle* closes `idle-delay` (120 s) after it started, in `unknown` and `closed` too: a closed
///   gate remains closed unless the screen was just unlocked.
/// - A user who unlocks the screen is present: idle time counts from the unlocking at the earliest,
///   since desktops clear their hint a moment later.
/// - In `unknown` and `closed` nothing is advertised, and devices that still send requests receive
///   nothing. `unknown` ends with the first reply of logind, or when the bus reports that no
///   process owns that name, or when there is no bus: without logind the gate is open. Logind is
///   queried again 5 s after each query that it did not answer in 5 s.
struct SessionGate: Sendable {
    /// The reason why nothing is advertised.
    enum Reason: Sendable, Equatable {
        /// It is not known yet whether the screen is locked.
        case unknown
        /// The screen was locked when the daemon started, and has not been unlocked since.
        case notYetUnlocked
        /// All screens are locked.
        case locked
        /// All screens are idle or locked.
        case idle
    }

    private enum State: Equatable {
        /// Neither the sessions nor their absence have been reported yet.
        case unknown
        /// The user is present, or no desktop runs.
        case open
        /// The user is away, but not long enough.
        case closing(Reason, at: MonotonicInstant?)
        /// Nothing is advertised.
        case closed(Reason)
    }

    /// The combined state of all sessions.
    private enum Presence {
        case present
        case locked
        /// No screen has been in use for this many seconds.
        case idle(seconds: UInt64)
    }

    private var delays: SessionDelays
    private var state = State.unknown
    /// Whether all screens were locked at the last report.
    private(set) var isLocked = false
    /// Whether the activity of other devices stays off the screen, because the user is away or
    /// others might see it: before the first report, while all screens are locked, and while the
    /// user has no session.
    var isQuiet: Bool {
        if case .unknown = state { return true }
        return isLocked || hasNoSession
    }
    /// Whether it is known that the user has no session.
    private var hasNoSession: Bool { sessions.map { !$0.contains(where: \.isOfPerson) } ?? false }
    /// The time of the last unlock. From then the user is present, even if the desktop still
    /// reports idleness.
    private var unlocked: MonotonicInstant?
    /// The last report, for evaluation under other delays.
    private var sessions: [LoginSession]?

    /// A gate that is closed until the first report.
    init(delays: SessionDelays) {
        self.delays = delays
    }

    /// The reason why nothing is advertised; nil while advertising is allowed.
    var reason: Reason? {
        switch state {
        case .unknown: .unknown
        case .open, .closing: nil
        case .closed(let reason): reason
        }
    }

    /// The time at which `deadlinePassed` must be called.
    var deadline: MonotonicInstant? {
        if case .closing(_, let deadline) = state { deadline } else { nil }
    }

    /// Applies a report. If the state cannot be determined, the last one remains in force. Before
    /// the first report the screen may be locked, unless no source of reports exists.
    mutating func take(_ report: LoginReport, unixSeconds: UInt64, now: MonotonicInstant) {
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

    /// Handles the time of `deadline`.
    mutating func deadlinePassed(now: MonotonicInstant) {
        guard case .closing(let reason, let deadline?) = state, now >= deadline else { return }
        state = .closed(reason)
    }

    /// Applies other delays from now on.
    mutating func take(_ delays: SessionDelays, unixSeconds: UInt64, now: MonotonicInstant) {
        guard delays != self.delays else { return }
        self.delays = delays
        guard case .closed(.notYetUnlocked) = state else {
            if case .unknown = state { return }
            // The absence of the user counts from now, because the start of the lock is not
            // recorded.
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
        // The session that was used last counts.
        let latest = graphical.filter(\.isIdle).map(\.idleSince).max() ?? 0
        return .idle(seconds: latest == 0 || latest > unixSeconds ? 0 : unixSeconds - latest)
    }
}
