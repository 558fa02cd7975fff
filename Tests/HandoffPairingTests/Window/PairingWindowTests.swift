import HandoffModel
import HandoffPairing
import HandoffProtocol
import Testing

/// A pairing window.
@Suite struct PairingWindowTests {
    private static let start = MonotonicInstant(nanoseconds: 1_000_000_000_000)
    private static let honest = PairingSource(host: [192, 0, 2, 1])
    private static let hostile = PairingSource(host: [192, 0, 2, 66])

    private var attempts = PairingAttemptLimiter()
    private var window = PairingWindow(attempts: PairingAttemptLimiter(), now: start)

    private func at(_ seconds: Double) -> MonotonicInstant {
        Self.start + .seconds(seconds)
    }

    private mutating func accept(
        _ source: PairingSource = honest, at seconds: Double
    ) throws -> PairingWindow.SessionID {
        try taken(window.accept(from: source, now: at(seconds))).id
    }

    private mutating func guessWrong(at seconds: Double) throws -> PairingRefusal {
        let id = try accept(Self.hostile, at: seconds)
        if let refusal = window.judge(id, now: at(seconds)) {
            _ = window.ended(id, now: at(seconds))
            return refusal
        }
        return window.wrongGuess(id, now: at(seconds), attempts: &attempts)
    }

    /// A session that the user is asked about.
    private mutating func ask(at seconds: Double) throws -> PairingWindow.SessionID {
        let id = try accept(at: seconds)
        #expect(window.refusal(starting: id, now: at(seconds)) == nil)
        #expect(window.judge(id, now: at(seconds)) == nil)
        window.rightGuess(id, now: at(seconds))
        window.asks(id)
        return id
    }

    @Test mutating func `a right guess leads to the transfer`() throws {
        let id = try ask(at: 1)
        #expect(window.agreed(to: id, now: at(100)) == true)
        #expect(window.ended(id, now: at(101)) == .over)
        #expect(window.isOver)
        #expect(window.accept(from: Self.honest, now: at(102)) == nil)
    }

    @Test
    mutating func `pauses 1, 2, 4 and 8 s after wrong guesses, and ends the code with the fifth`() throws {
        var now = 0.0
        for (left, pause) in zip([4, 3, 2, 1], [1, 2, 4, 8]) {
            #expect(try guessWrong(at: now) == .wrongCode)
            #expect(window.guessesLeft == left)
            #expect(try guessWrong(at: now) == .busy(seconds: UInt16(pause)), "it was verified")
            #expect(try guessWrong(at: now + 0.5) == .busy(seconds: UInt16(pause)), "rounded up")
            #expect(window.guessesLeft == left, "it was counted")
            let id = try accept(at: now + Double(pause) - 0.01)
            #expect(window.refusal(starting: id, now: at(now + Double(pause) - 0.01)) == .busy(seconds: 1))
            now += Double(pause)
            #expect(window.refusal(starting: id, now: at(now)) == nil)
            _ = window.ended(id, now: at(now))
        }
        #expect(try guessWrong(at: now) == .codeEnded)
        #expect(window.guessesLeft == 0)
        #expect(try guessWrong(at: now + 100) == .codeEnded)
        #expect(!window.isOver, "the window closed for the link")
    }

    @Test mutating func `the link remains valid when the code has ended`() throws {
        for second in [0.0, 10, 20, 30, 40] { _ = try guessWrong(at: second) }
        let id = try accept(at: 41)
        #expect(window.refusal(starting: id, now: at(41)) == .codeEnded)
        #expect(window.useToken([1], of: id).isTaken == true)
        #expect(window.refusal(starting: id, now: at(41)) == nil)
        #expect(window.judge(id, now: at(41)) == nil)
        window.rightGuess(id, now: at(41))
    }

    @Test mutating func `a pause does not delay the link`() throws {
        _ = try guessWrong(at: 0)
        let id = try accept(at: 0.1)
        #expect(window.useToken([1], of: id).isTaken == true)
        #expect(window.judge(id, now: at(0.1)) == nil)
    }

    @Test mutating func `a wrong guess by link is not counted`() throws {
        for number in 0..<20 {
            let id = try accept(at: 1)
            #expect(window.useToken([UInt8(number)], of: id).isTaken == true)
            #expect(window.judge(id, now: at(1)) == nil)
            #expect(window.wrongGuess(id, now: at(1), attempts: &attempts) == .wrongCode)
        }
        #expect(window.guessesLeft == PairingWindow.maxGuesses)
        #expect(attempts == PairingAttemptLimiter())
    }

    @Test mutating func `a token is accepted once`() throws {
        let first = try accept(at: 0)
        let second = try accept(at: 0)
        #expect(window.useToken([1, 2, 3], of: first).isTaken == true)
        #expect(window.useToken([1, 2, 3], of: second).isTaken == false)
        #expect(window.useToken([4], of: 99).isTaken == false)
    }

    @Test mutating func `without digits only the link is accepted`() throws {
        for _ in 0..<3 {
            window = PairingWindow(attempts: attempts, now: Self.start)
            _ = try guessWrong(at: 0)
        }
        window = PairingWindow(attempts: attempts, now: Self.start)
        #expect(!window.offersDigits && window.guessesLeft == 0)
        let id = try accept(at: 0)
        #expect(window.refusal(starting: id, now: at(0)) == .codeEnded)
        #expect(window.useToken([1], of: id).isTaken == true)
        #expect(window.refusal(starting: id, now: at(0)) == nil)
    }

    @Test
    mutating func `no other session is verified while the user is asked; if it ends, the window continues`() throws {
        let waiting = try accept(at: 0)
        let asked = try ask(at: 1)
        #expect(window.judge(waiting, now: at(1)) == .busy(seconds: PairingWindow.busySeconds))
        let late = try accept(at: 2)
        #expect(window.refusal(starting: late, now: at(2)) == .busy(seconds: PairingWindow.busySeconds))
        #expect(window.ended(asked, now: at(3)) == .gone)
        #expect(window.refusal(starting: late, now: at(3)) == nil)
        let next = try ask(at: 4)
        #expect(window.agreed(to: next, now: at(5)) == true)
        #expect(window.agreed(to: asked, now: at(5)) == false)
    }

    @Test mutating func `a device that proves the code and then is silent blocks others for five seconds`() throws {
        let id = try accept(at: 0)
        #expect(window.judge(id, now: at(1)) == nil)
        window.rightGuess(id, now: at(1))
        #expect(window.nextDeadline == at(5))
        #expect(window.expire(now: at(4.9)) == [])
        #expect(window.expire(now: at(5)) == [.late(id)])
        #expect(!window.isOver)
        _ = try ask(at: 6)
    }

    @Test mutating func `sessions have five seconds for their proof`() throws {
        let first = try accept(at: 0)
        let second = try accept(at: 1)
        #expect(window.nextDeadline == at(5))
        #expect(window.expire(now: at(5)) == [.late(first)])
        #expect(window.nextDeadline == at(6))
        #expect(window.expire(now: at(10)) == [.late(second)])
        #expect(window.nextDeadline == at(180))
    }

    @Test mutating func `it ends after three minutes`() throws {
        let id = try accept(at: 179)
        #expect(window.expire(now: at(180)) == [.closed(id), .over])
        #expect(window.isOver && window.nextDeadline == nil)
        #expect(window.accept(from: Self.honest, now: at(180)) == nil)
        #expect(window.expire(now: at(400)) == [])
    }

    @Test mutating func `a proof after the end is not verified`() throws {
        let id = try accept(at: 179)
        #expect(window.judge(id, now: at(180)) == .windowClosed)
    }

    @Test mutating func `the user has one more minute`() throws {
        let id = try ask(at: 179)
        #expect(window.expire(now: at(180)) == [])
        #expect(window.accept(from: Self.honest, now: at(181)) == nil)
        #expect(window.nextDeadline == at(240))
        var other = window
        #expect(other.agreed(to: id, now: at(239.5)) == true)
        #expect(other.nextDeadline == at(269.5))
        #expect(window.agreed(to: id, now: at(240)) == false)
        #expect(window.expire(now: at(240)) == [.closed(id), .over])
    }

    @Test mutating func `a session that ends after the window's time ends the window`() throws {
        let id = try ask(at: 179)
        _ = window.expire(now: at(180))
        #expect(window.ended(id, now: at(181)) == .over)
    }

    @Test mutating func `the transfer has half a minute`() throws {
        let id = try ask(at: 1)
        #expect(window.agreed(to: id, now: at(170)) == true)
        #expect(window.nextDeadline == at(200))
        #expect(window.expire(now: at(190)) == [])
        #expect(window.expire(now: at(200)) == [.late(id), .over])
        #expect(window.isOver)
    }

    @Test mutating func `closing returns all remaining sessions`() throws {
        let asked = try ask(at: 0)
        let other = try accept(at: 1)
        let left = window.close()
        #expect(Set(left) == [asked, other])
        #expect(window.isOver)
        #expect(window.close() == [])
        #expect(window.ended(asked, now: at(2)) == .none)
    }

    @Test
    mutating func `a new session evicts the oldest of the busiest source`() throws {
        let good = try accept(at: 0)
        let bad = try (0..<3).map { try accept(Self.hostile, at: 0.1 * Double($0 + 1)) }
        let fifth = try taken(window.accept(from: Self.hostile, now: at(1)))
        #expect(fifth.evicted == bad[0])
        let sixth = try taken(window.accept(from: Self.honest, now: at(1)))
        #expect(sixth.evicted == bad[1])
        #expect(window.refusal(starting: good, now: at(1)) == nil)
        #expect(window.unproved == PairingWindow.maxSessions)
    }

    @Test
    mutating func `a flood of one source never closes the session of another source, or one by link`() throws {
        let good = try accept(at: 0)
        let byLink = try accept(Self.hostile, at: 0)
        #expect(window.useToken([1], of: byLink).isTaken == true)
        for number in 0..<1_000 {
            let evicted = try taken(window.accept(from: Self.hostile, now: at(1))).evicted
            #expect(evicted != good && evicted != byLink, "\(number)")
        }
        #expect(window.judge(good, now: at(1)) == nil)
        window.rightGuess(good, now: at(1))
        #expect(window.guessesLeft == PairingWindow.maxGuesses)
    }

    @Test func `addresses of one device are one source`() {
        let network: [UInt8] = [0x20, 1, 0x0D, 0xB8, 0, 0, 0, 1]
        let linkLocal: [UInt8] = [0xFE, 0x80, 0, 0, 0, 0, 0, 0]
        let (one, two): ([UInt8], [UInt8]) = ([0, 0, 0, 0, 0, 0, 0, 1], [0, 0, 0, 0, 0, 0, 0, 2])
        #expect(PairingSource(host: network + one) == PairingSource(host: network + two))
        // Link-local addresses all have the same prefix, so it does not identify a device.
        #expect(PairingSource(host: linkLocal + one) != PairingSource(host: linkLocal + two))
        #expect(PairingSource(host: [1, 2, 3, 4]) != PairingSource(host: [1, 2, 3, 5]))
    }
}
