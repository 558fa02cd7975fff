import HandoffModel
import HandoffPairing
import HandoffProtocol
import Testing

/// A pairing window under arbitrary attacks.
@Suite struct PairingWindowPropertyTests {
    /// A generator with repeatable runs (SplitMix64).
    private struct Dice {
        var state: UInt64

        mutating func roll(_ sides: Int) -> Int {
            state &+= 0x9E37_79B9_7F4A_7C15
            var z = state
            z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
            z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
            return Int((z ^ (z >> 31)) % UInt64(sides))
        }
    }

    private static let start = MonotonicInstant(nanoseconds: 1)

    /// Many sources and concurrent sessions, all of which guess wrongly whenever possible.
    @Test(arguments: 0..<200 as Range<UInt64>)
    func `at most five wrong guesses are verified, in any order`(_ seed: UInt64) throws {
        var dice = Dice(state: seed)
        var attempts = PairingAttemptLimiter()
        var window = PairingWindow(attempts: attempts, now: Self.start)
        var now = Self.start
        var sessions: [PairingWindow.SessionID] = []
        var checks: [MonotonicInstant] = []
        for _ in 0..<2_000 where !window.isOver {
            now = now + .milliseconds(dice.roll(200))
            switch dice.roll(5) {
            case 0, 1:
                let source = PairingSource(host: [10, 0, 0, UInt8(dice.roll(6))])
                guard let (id, evicted) = window.accept(from: source, now: now) else { break }
                sessions.append(id)
                sessions.removeAll { $0 == evicted }
            case 2, 3:
                guard !sessions.isEmpty else { break }
                let id = sessions.remove(at: dice.roll(sessions.count))
                guard window.judge(id, now: now) == nil else {
                    _ = window.ended(id, now: now)
                    break
                }
                // Before the verdict, all others also try.
                for other in sessions { #expect(window.judge(other, now: now) != nil) }
                if dice.roll(4) == 0 {
                    #expect(window.ended(id, now: now) == .none)
                } else {
                    checks.append(now)
                    _ = window.wrongGuess(id, now: now, attempts: &attempts)
                }
            default:
                for expiry in window.expire(now: now) {
                    guard case .late(let id) = expiry else { continue }
                    sessions.removeAll { $0 == id }
                }
            }
            #expect(window.unproved <= PairingWindow.maxSessions)
            #expect(window.guessesLeft == PairingWindow.maxGuesses - checks.count)
        }
        #expect(checks.count <= PairingWindow.maxGuesses)
        for (index, pair) in zip(checks, checks.dropFirst()).enumerated() {
            #expect(pair.1.duration(since: pair.0) >= .seconds(1 << index))
        }
    }

    /// Everything but a wrong proof: connections, silence, broken frames, unknown tokens.
    @Test(arguments: 0..<100 as Range<UInt64>)
    func `garbage costs no guess and no pause, and an honest device is admitted`(_ seed: UInt64) throws {
        var dice = Dice(state: seed)
        var window = PairingWindow(attempts: PairingAttemptLimiter(), now: Self.start)
        var now = Self.start
        for _ in 0..<500 {
            now = now + .milliseconds(dice.roll(300))
            let source = PairingSource(host: [10, 0, 0, UInt8(dice.roll(3))])
            switch dice.roll(3) {
            case 0: _ = window.accept(from: source, now: now)
            case 1: _ = window.ended(UInt64(dice.roll(500)), now: now)
            default: _ = window.expire(now: now)
            }
        }
        #expect(window.guessesLeft == PairingWindow.maxGuesses)
        // The honest device connects from its own address while the flood continues.
        let (id, _) = try taken(window.accept(from: PairingSource(host: [192, 0, 2, 1]), now: now))
        for _ in 0..<100 {
            _ = window.accept(from: PairingSource(host: [10, 0, 0, 1]), now: now)
        }
        #expect(window.refusal(starting: id, now: now) == nil)
        #expect(window.judge(id, now: now) == nil)
        window.rightGuess(id, now: now)
    }
}
