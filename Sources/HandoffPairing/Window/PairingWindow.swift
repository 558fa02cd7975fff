internal import HandoffAccount
import HandoffProtocol
package import Timing

/// The rules of one pairing window: who gets in, when a guess is looked at, and when it is over. A plain value; time is a
/// parameter.
///
/// Only a wrong proof of the code counts as a guess: whoever sends garbage, stops halfway or floods can neither end the
/// code nor delay it, as the oldest session of the busiest source pays for each new one. Sessions by link are counted
/// apart, so that no flood reaches them. At most one session is judged at a time, and at most ``maxGuesses`` wrong proofs
/// are ever judged. Diagram: `docs/state-machines/pairing.md`.
package struct PairingWindow: Sendable {
    /// Names one connection to the window; never reused within it.
    package typealias SessionID = UInt64

    /// Sessions of each door that may be open without having proved the code.
    package static let maxSessions = 4
    /// Wrong guesses that end a code.
    package static let maxGuesses = 5
    /// What a session is told to wait while another is being judged or asked about.
    package static let busySeconds: UInt16 = 5

    private struct Session {
        let id: SessionID
        let source: PairingSource
        let arrived: MonotonicInstant
        var door: PairingAuthMethod
    }

    private enum Phase {
        /// The state while sessions may prove the code.
        case open
        /// The state while one proof is being looked at.
        case judging(SessionID)
        /// The state once a session has proved the code, until its identity is proved.
        case confirmed(SessionID, by: MonotonicInstant)
        /// The state while the user is asked about a session.
        case asking(SessionID)
        /// The state while the account is handed over.
        case transferring(SessionID, by: MonotonicInstant)
        /// The state once the window is over.
        case over
    }

    /// When the window closes for new proofs.
    package let end: MonotonicInstant
    /// Wrong guesses that may still be made at the digits; 0 once they open no more, or when there are none.
    package private(set) var guessesLeft: Int
    /// Whether the window was opened with digits.
    package let offersDigits: Bool

    /// Sessions that have not proved the code, the oldest first.
    private var sessions: [Session] = []
    private var phase = Phase.open
    /// Until when guesses at the digits are not looked at.
    private var pauseEnd: MonotonicInstant?
    private var tokens = SeenTokens()
    private var nextID: SessionID = 0

    /// Opens a window for ``PairingProtocol/windowTime``, with digits if `attempts` has any.
    package init(attempts: PairingAttemptLimiter, now: MonotonicInstant) {
        end = now + PairingProtocol.windowTime
        offersDigits = attempts.offersDigits(at: now)
        guessesLeft = offersDigits ? Self.maxGuesses : 0
    }

    /// Whether the window is over, and the listener with it.
    package var isOver: Bool {
        if case .over = phase { true } else { false }
    }

    /// Sessions that have not proved the code.
    package var unproved: Int { sessions.count }

    // MARK: - Sessions come

    /// Takes a connection; it counts as one for the digits until ``useToken(_:of:)``.
    ///
    /// - Returns: its name, and the older session that must be closed for it; nil when the window takes nobody any more.
    package mutating func accept(
        from source: PairingSource, now: MonotonicInstant
    ) -> (id: SessionID, evicted: SessionID?)? {
        guard !isOver, now < end else { return nil }
        let evicted = makeRoom(at: .digits)
        let id = nextID
        nextID &+= 1
        sessions.append(Session(id: id, source: source, arrived: now, door: .digits))
        return (id, evicted)
    }

    /// Notes that a connection came with a token that is valid; each token opens once.
    ///
    /// - Returns: false when the token was used before: then the connection is closed without a byte.
    package mutating func useToken(_ token: [UInt8], of id: SessionID) -> (isTaken: Bool, evicted: SessionID?) {
        guard sessions.contains(where: { $0.id == id }), tokens.insert(token) else { return (false, nil) }
        let evicted = makeRoom(at: .link)
        // Found only now, as making room moves the others.
        if let index = sessions.firstIndex(where: { $0.id == id }) { sessions[index].door = .link }
        return (true, evicted)
    }

    /// Why a session whose TLS is up may not even start; nil when it may.
    package func refusal(starting id: SessionID, now: MonotonicInstant) -> PairingRefusal? {
        guard let session = sessions.first(where: { $0.id == id }), !isOver, now < end else { return .windowClosed }
        switch phase {
        case .open, .judging: break
        case .confirmed, .asking: return .busy(seconds: Self.busySeconds)
        case .transferring, .over: return .windowClosed
        }
        return session.door == .link ? nil : digitsRefusal(now)
    }

    // MARK: - Guesses

    /// Asks whether the proof that arrived in a session may be looked at: nil if so, and then exactly one of
    /// ``wrongGuess(_:now:attempts:)``, ``rightGuess(_:now:)`` and ``ended(_:now:)`` follows.
    package mutating func judge(_ id: SessionID, now: MonotonicInstant) -> PairingRefusal? {
        if let refusal = refusal(starting: id, now: now) { return refusal }
        guard case .open = phase else { return .busy(seconds: Self.busySeconds) }
        phase = .judging(id)
        return nil
    }

    /// Counts a wrong proof; the session is forgotten.
    ///
    /// - Returns: what the session is refused with.
    package mutating func wrongGuess(
        _ id: SessionID, now: MonotonicInstant, attempts: inout PairingAttemptLimiter
    ) -> PairingRefusal {
        guard case .judging(id) = phase, let index = sessions.firstIndex(where: { $0.id == id }) else {
            // The driver's mistake alone: it asks in the same turn in which `judge` has let this guess in.
            preconditionFailure("the session is not being judged")
        }
        phase = .open
        // Whoever has the link does not guess: its secret is beyond guessing.
        guard sessions.remove(at: index).door == .digits else { return .wrongCode }
        if guessesLeft == Self.maxGuesses { attempts.codeTried(at: now) }
        guessesLeft -= 1
        guard guessesLeft > 0 else { return .codeEnded }
        let wrong = Self.maxGuesses - guessesLeft
        pauseEnd = now + .seconds(1 << (wrong - 1))
        return .wrongCode
    }

    /// Notes a right proof: nobody else's is looked at while this session is there.
    package mutating func rightGuess(_ id: SessionID, now: MonotonicInstant) {
        guard case .judging(id) = phase, let index = sessions.firstIndex(where: { $0.id == id }) else {
            // The driver's mistake alone: it asks in the same turn in which `judge` has let this guess in.
            preconditionFailure("the session is not being judged")
        }
        let session = sessions.remove(at: index)
        phase = .confirmed(id, by: session.arrived + PairingProtocol.proofTime)
    }

    // MARK: - The user's answer

    /// Notes that the identity of the confirmed session is proved, and the user is asked.
    package mutating func asks(_ id: SessionID) {
        // The driver's mistake alone: a session names its joiner only after the proof that `rightGuess` has noted.
        guard case .confirmed(id, _) = phase else { preconditionFailure("the session has not proved the code") }
        phase = .asking(id)
    }

    /// The user agreed to the session that was asked about; false when it is gone, or the answer came too late.
    package mutating func agreed(to id: SessionID, now: MonotonicInstant) -> Bool {
        guard case .asking(id) = phase, now < end + PairingProtocol.answerGrace else { return false }
        phase = .transferring(id, by: now + PairingProtocol.transferTime)
        return true
    }

    /// Ends the window: the user declined or closed it, or the daemon stops.
    ///
    /// - Returns: the sessions that are still there, to be refused.
    package mutating func close() -> [SessionID] {
        let left = sessions.map(\.id) + (holder.map { [$0] } ?? [])
        sessions = []
        phase = .over
        return left
    }

    // MARK: - Sessions go

    /// Notes that a session has ended, for whatever reason; unknown ones are ignored.
    package mutating func ended(_ id: SessionID, now: MonotonicInstant) -> PairingLoss {
        sessions.removeAll { $0.id == id }
        switch phase {
        case .judging(id):
            phase = .open
            return .none
        case .confirmed(id, _), .asking(id):
            guard now < end else {
                phase = .over
                return .over
            }
            let wasAsking = isAsking
            phase = .open
            return wasAsking ? .gone : .none
        case .transferring(id, _):
            phase = .over
            return .over
        case .open, .judging, .confirmed, .asking, .transferring, .over: return .none
        }
    }

    /// When ``expire(now:)`` has something to do next; nil when the window is over.
    package var nextDeadline: MonotonicInstant? {
        let oldest = sessions.map { $0.arrived + PairingProtocol.proofTime }.min()
        let next: MonotonicInstant? =
            switch phase {
            case .open, .judging: end
            case .confirmed(_, let deadline), .transferring(_, let deadline): deadline
            case .asking: end + PairingProtocol.answerGrace
            case .over: nil
            }
        return next.map { min($0, oldest ?? $0) }
    }

    /// Forgets the sessions whose time is over, and tells what to do with them. The driver does not report them again.
    package mutating func expire(now: MonotonicInstant) -> [PairingExpiry] {
        guard !isOver else { return [] }
        var expiries: [PairingExpiry] = []
        let late = sessions.filter { $0.arrived + PairingProtocol.proofTime <= now }.map(\.id)
        for id in late {
            expiries.append(.late(id))
            _ = ended(id, now: now)
        }
        switch phase {
        case .confirmed(let id, let deadline) where deadline <= now:
            expiries.append(.late(id))
            if ended(id, now: now) == .over { expiries.append(.over) }
        case .asking where end + PairingProtocol.answerGrace <= now:
            expiries += close().map { .closed($0) } + [.over]
        case .transferring(let id, let deadline) where deadline <= now:
            expiries += [.late(id), .over]
            phase = .over
        case .open, .judging, .confirmed, .asking, .transferring, .over: break
        }
        if now >= end, !isOver {
            expiries += sessions.map { .closed($0.id) }
            sessions = []
            switch phase {
            case .open, .judging:
                phase = .over
                expiries.append(.over)
            case .confirmed, .asking, .transferring, .over: break
            }
        }
        return expiries
    }

    // MARK: - Inside

    private var isAsking: Bool {
        if case .asking = phase { true } else { false }
    }

    /// The session that has proved the code, while it is there.
    private var holder: SessionID? {
        switch phase {
        case .confirmed(let id, _), .asking(let id), .transferring(let id, _): id
        case .open, .judging, .over: nil
        }
    }

    private func digitsRefusal(_ now: MonotonicInstant) -> PairingRefusal? {
        guard guessesLeft > 0 else { return .codeEnded }
        guard let pauseEnd, now < pauseEnd else { return nil }
        let (seconds, attoseconds) = pauseEnd.duration(since: now).components
        return .busy(seconds: UInt16(clamping: seconds + (attoseconds > 0 ? 1 : 0)))
    }

    /// Removes the oldest session of the busiest source when all places of a door are taken; one that is being judged
    /// stays, as that takes no time.
    private mutating func makeRoom(at door: PairingAuthMethod) -> SessionID? {
        let present = sessions.filter { $0.door == door }
        guard present.count >= Self.maxSessions else { return nil }
        let counts = present.reduce(into: [PairingSource: Int]()) { $0[$1.source, default: 0] += 1 }
        let busiest = counts.values.max() ?? 0
        guard let oldest = present.first(where: { counts[$0.source] == busiest }) else { return nil }
        sessions.removeAll { $0.id == oldest.id }
        if case .judging(oldest.id) = phase { phase = .open }
        return oldest.id
    }
}

/// What the passing of time asks the driver of a ``PairingWindow`` to do.
package enum PairingExpiry: Sendable, Hashable {
    /// The session has not proved itself in time: close it without a word.
    case late(PairingWindow.SessionID)
    /// The window is closed for this session: refuse it with ``PairingRefusal/windowClosed``.
    case closed(PairingWindow.SessionID)
    /// The window is over: stop listening.
    case over
}

/// What it means to a ``PairingWindow`` that a session has ended.
package enum PairingLoss: Sendable, Hashable {
    /// Nothing: it had not proved the code.
    case none
    /// The device that was being asked about went away; the window goes on with the same code and link.
    case gone
    /// The window is over, as the session took it with it: handed over, declined, or gone after its time.
    case over
}
