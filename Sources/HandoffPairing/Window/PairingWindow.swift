internal import HandoffAccount
package import HandoffModel
import HandoffProtocol

/// The rules of one pairing window: which sessions are admitted, when a guess is verified, and when
/// the window ends. A plain value; time is a parameter.
///
/// Only a wrong proof of the code counts as a guess. A client that sends garbage, stops halfway or
/// floods can neither end the code nor delay it, because a new session beyond ``maxSessions``
/// evicts the oldest session of the busiest source. Sessions with the link are counted separately,
/// so a flood does not affect them. At most one session is verified at a time, and at most
/// ``maxGuesses`` wrong proofs are ever verified. Diagram: `docs/state-machines/pairing.md`.
package struct PairingWindow: Sendable {
    /// Identifies one connection in the window. Never reused within it.
    package typealias SessionID = UInt64

    /// Maximum number of open sessions per authentication method that have not proved the code.
    package static let maxSessions = 4
    /// Number of wrong guesses that end a code.
    package static let maxGuesses = 5
    /// Retry delay sent to a session while another one is verified or the user is asked about it.
    package static let busySeconds: UInt16 = 5

    private struct Session {
        let id: SessionID
        let source: PairingSource
        let arrived: MonotonicInstant
        var method: PairingAuthMethod
    }

    private enum Phase {
        /// Sessions may prove the code.
        case open
        /// One proof is being verified.
        case judging(SessionID)
        /// A session has proved the code but not its identity.
        case confirmed(SessionID, by: MonotonicInstant)
        /// The user is asked about a session.
        case asking(SessionID)
        /// The account is being sent.
        case transferring(SessionID, by: MonotonicInstant)
        /// The window has ended.
        case over
    }

    /// The time when the window closes for new proofs.
    let end: MonotonicInstant
    /// Number of guesses left for the digits; 0 once they are no longer accepted, or if there are
    /// none.
    package private(set) var guessesLeft: Int
    /// True if the window was opened with digits.
    package let offersDigits: Bool

    /// Sessions that have not proved the code, oldest first.
    private var sessions: [Session] = []
    private var phase = Phase.open
    /// The end of the pause in which guesses at the digits are not verified.
    private var pauseEnd: MonotonicInstant?
    private var tokens = SeenTokens()
    private var nextID: SessionID = 0

    /// Opens a window for `Limits.pairingWindowLifetime`, with digits if `attempts` permits
    /// them.
    package init(attempts: PairingAttemptLimiter, now: MonotonicInstant) {
        end = now + Limits.pairingWindowLifetime
        offersDigits = attempts.offersDigits(at: now)
        guessesLeft = offersDigits ? Self.maxGuesses : 0
    }

    /// True if the window has ended. The listener must then stop.
    package var isOver: Bool {
        if case .over = phase { true } else { false }
    }

    /// The number of sessions that have not proved the code.
    package var unproved: Int { sessions.count }

    // MARK: - Accepting sessions

    /// Accepts a connection. It counts as a digits session until ``useToken(_:of:)``.
    ///
    /// - Returns: its id, and the older session that must be closed for it; nil if the window
    ///   accepts no more connections.
    package mutating func accept(
        from source: PairingSource, now: MonotonicInstant
    ) -> (id: SessionID, evicted: SessionID?)? {
        guard !isOver, now < end else { return nil }
        let evicted = makeRoom(for: .digits)
        let id = nextID
        nextID &+= 1
        sessions.append(Session(id: id, source: source, arrived: now, method: .digits))
        return (id, evicted)
    }

    /// Records that a connection sent a valid token. Each token is accepted once.
    ///
    /// - Returns: false when the token was used before; close the connection without sending a
    ///   byte.
    package mutating func useToken(_ token: [UInt8], of id: SessionID) -> (isTaken: Bool, evicted: SessionID?) {
        guard sessions.contains(where: { $0.id == id }), tokens.insert(token) else { return (false, nil) }
        let evicted = makeRoom(for: .link)
        // Looked up only now, because making room moves the others.
        if let index = sessions.firstIndex(where: { $0.id == id }) { sessions[index].method = .link }
        return (true, evicted)
    }

    /// The reason why a session with an established TLS connection must not start, or nil if it
    /// may.
    package func refusal(starting id: SessionID, now: MonotonicInstant) -> PairingRefusal? {
        guard let session = sessions.first(where: { $0.id == id }), !isOver, now < end else { return .windowClosed }
        switch phase {
        case .open, .judging: break
        case .confirmed, .asking: return .busy(seconds: Self.busySeconds)
        case .transferring, .over: return .windowClosed
        }
        return session.method == .link ? nil : digitsRefusal(now)
    }

    // MARK: - Guesses

    /// Requests verification of the proof that arrived in a session. If the result is nil, exactly
    /// one of ``wrongGuess(_:now:attempts:)``, ``rightGuess(_:now:)`` and ``ended(_:now:)``
    /// follows.
    package mutating func judge(_ id: SessionID, now: MonotonicInstant) -> PairingRefusal? {
        if let refusal = refusal(starting: id, now: now) { return refusal }
        guard case .open = phase else { return .busy(seconds: Self.busySeconds) }
        phase = .judging(id)
        return nil
    }

    /// Counts a wrong proof and removes the session.
    ///
    /// - Returns: the refusal to send.
    package mutating func wrongGuess(
        _ id: SessionID, now: MonotonicInstant, attempts: inout PairingAttemptLimiter
    ) -> PairingRefusal {
        guard case .judging(id) = phase, let index = sessions.firstIndex(where: { $0.id == id }) else {
            // Only a driver error can cause this: the driver calls it in the turn in which `judge`
            // admitted this guess.
            preconditionFailure("the session is not being judged")
        }
        phase = .open
        // A client with the link is not guessing, because its secret cannot be guessed.
        guard sessions.remove(at: index).method == .digits else { return .wrongCode }
        if guessesLeft == Self.maxGuesses { attempts.recordAttempt(at: now) }
        guessesLeft -= 1
        guard guessesLeft > 0 else { return .codeEnded }
        let wrong = Self.maxGuesses - guessesLeft
        pauseEnd = now + .seconds(1 << (wrong - 1))
        return .wrongCode
    }

    /// Records a right proof. No other proof is verified while this session exists.
    package mutating func rightGuess(_ id: SessionID, now: MonotonicInstant) {
        guard case .judging(id) = phase, let index = sessions.firstIndex(where: { $0.id == id }) else {
            // Only a driver error can cause this: the driver calls it in the turn in which `judge`
            // admitted this guess.
            preconditionFailure("the session is not being judged")
        }
        let session = sessions.remove(at: index)
        phase = .confirmed(id, by: session.arrived + PairingProtocol.proofTimeout)
    }

    // MARK: - The user's answer

    /// Records that the confirmed session has proved its identity and the user is being asked.
    package mutating func asks(_ id: SessionID) {
        // Only a driver error can cause this: a session reports its joiner only after the proof
        // recorded by `rightGuess`.
        guard case .confirmed(id, _) = phase else { preconditionFailure("the session has not proved the code") }
        phase = .asking(id)
    }

    /// Records that the user agreed to the session. Returns false if the session has ended or the
    /// answer is too late.
    package mutating func agreed(to id: SessionID, now: MonotonicInstant) -> Bool {
        guard case .asking(id) = phase, now < end + PairingProtocol.answerGrace else { return false }
        phase = .transferring(id, by: now + PairingProtocol.transferTimeout)
        return true
    }

    /// Ends the window because the user declined or closed it, or the daemon stops.
    ///
    /// - Returns: the remaining sessions, which must be refused.
    package mutating func close() -> [SessionID] {
        let left = sessions.map(\.id) + (confirmedSession.map { [$0] } ?? [])
        sessions = []
        phase = .over
        return left
    }

    // MARK: - Ending sessions

    /// Records that a session has ended for any reason. Unknown sessions are ignored.
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

    /// The time when ``expire(now:)`` must be called next, or nil after the window has ended.
    package var nextDeadline: MonotonicInstant? {
        let oldest = sessions.map { $0.arrived + PairingProtocol.proofTimeout }.min()
        let next: MonotonicInstant? =
            switch phase {
            case .open, .judging: end
            case .confirmed(_, let deadline), .transferring(_, let deadline): deadline
            case .asking: end + PairingProtocol.answerGrace
            case .over: nil
            }
        return next.map { min($0, oldest ?? $0) }
    }

    /// Removes expired sessions and returns what to do with them. The driver does not report them
    /// again.
    package mutating func expire(now: MonotonicInstant) -> [PairingExpiry] {
        guard !isOver else { return [] }
        var expiries: [PairingExpiry] = []
        let late = sessions.filter { $0.arrived + PairingProtocol.proofTimeout <= now }.map(\.id)
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

    // MARK: - Private helpers

    private var isAsking: Bool {
        if case .asking = phase { true } else { false }
    }

    /// The session that has proved the code, while it exists.
    private var confirmedSession: SessionID? {
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

    /// Removes the oldest session of the busiest source if the sessions of a method are at their
    /// limit. If that session is being verified, the window reopens for other proofs.
    private mutating func makeRoom(for method: PairingAuthMethod) -> SessionID? {
        let present = sessions.filter { $0.method == method }
        guard present.count >= Self.maxSessions else { return nil }
        let counts = present.reduce(into: [PairingSource: Int]()) { $0[$1.source, default: 0] += 1 }
        let busiest = counts.values.max() ?? 0
        guard let oldest = present.first(where: { counts[$0.source] == busiest }) else { return nil }
        sessions.removeAll { $0.id == oldest.id }
        if case .judging(oldest.id) = phase { phase = .open }
        return oldest.id
    }
}

/// An action that the driver of a ``PairingWindow`` must perform because time has passed.
package enum PairingExpiry: Sendable, Hashable {
    /// The session has not proved itself in time: close it without sending a refusal.
    case late(PairingWindow.SessionID)
    /// The window is closed for this session: refuse it with ``PairingRefusal/windowClosed``.
    case closed(PairingWindow.SessionID)
    /// The window has ended: stop listening.
    case over
}

/// The effect on a ``PairingWindow`` of the end of a session.
package enum PairingLoss: Sendable, Hashable {
    /// No effect: it had not proved the code.
    case none
    /// The device that the user was asked about has disconnected. The window continues with the
    /// same code and link.
    case gone
    /// The window has ended with the session: the account was sent, the user declined, or the
    /// session ended after the window's time.
    case over
}
