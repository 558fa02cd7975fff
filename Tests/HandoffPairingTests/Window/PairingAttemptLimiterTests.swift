import HandoffModel
import HandoffPairing
import HandoffProtocol
import Testing

/// A window reports a code as tried with its first wrong guess.
struct PairingAttemptLimiterTests {
    private static let start = MonotonicInstant(nanoseconds: 5_000_000_000)

    /// Opens a window and makes one wrong guess at its code. Returns false if it has no digits.
    private func tryCode(_ attempts: inout PairingAttemptLimiter, at now: MonotonicInstant) throws -> Bool {
        var window = PairingWindow(attempts: attempts, now: now)
        guard window.offersDigits else { return false }
        let id = try taken(window.accept(from: PairingSource(host: [1, 2, 3, 4]), now: now)).id
        #expect(window.judge(id, now: now) == nil)
        _ = window.wrongGuess(id, now: now, attempts: &attempts)
        return true
    }

    @Test func `three codes then one every ten minutes`() throws {
        var attempts = PairingAttemptLimiter()
        var tried: [Int] = []
        for second in stride(from: 0, through: 7_200, by: 10)
        where try tryCode(&attempts, at: Self.start + .seconds(second)) { tried.append(second) }
        #expect(tried == [0, 10, 20, 600] + (2...12).map { $0 * 600 })
    }

    @Test func `a pause restores three codes and no more`() throws {
        var attempts = PairingAttemptLimiter()
        for _ in 0..<4 { _ = try tryCode(&attempts, at: Self.start) }
        let later = Self.start + .seconds(100_000)
        let results = try (0..<5).map { _ in try tryCode(&attempts, at: later) }
        #expect(results == [true, true, true, false, false])
    }

    @Test func `windows without guesses cost nothing`() throws {
        let attempts = PairingAttemptLimiter()
        for second in 0..<1_000 {
            let window = PairingWindow(attempts: attempts, now: Self.start + .seconds(second))
            #expect(window.offersDigits && window.guessesLeft == PairingWindow.maxGuesses)
        }
    }

    @Test func `five guesses at one code cost one code`() throws {
        var attempts = PairingAttemptLimiter()
        var window = PairingWindow(attempts: attempts, now: Self.start)
        for guess in 0..<5 {
            let now = Self.start + .seconds(guess * 30)
            let id = try taken(window.accept(from: PairingSource(host: [1, 2, 3, 4]), now: now)).id
            #expect(window.judge(id, now: now) == nil)
            _ = window.wrongGuess(id, now: now, attempts: &attempts)
        }
        let results = try (0..<3).map { _ in try tryCode(&attempts, at: Self.start + .seconds(120)) }
        #expect(results == [true, true, false])
    }

    @Test func `it reports when digits are available again`() throws {
        var attempts = PairingAttemptLimiter()
        #expect(attempts.nextDigits <= Self.start)
        for _ in 0..<3 { _ = try tryCode(&attempts, at: Self.start) }
        #expect(attempts.nextDigits == Self.start + .seconds(600))
        #expect(!attempts.offersDigits(at: Self.start + .seconds(599)))
        #expect(attempts.offersDigits(at: Self.start + .seconds(600)))
    }
}
