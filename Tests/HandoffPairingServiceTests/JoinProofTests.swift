import HandoffDiscovery
import HandoffPairingService
import LoopIO
import Testing
import Timing

/// How often a joiner shows its proof of the code to those who show none.
@Suite struct JoinProofTests {
    private var targets = JoinTargets(limits: PairingLimits())
    private var now = MonotonicInstant(nanoseconds: 1)

    private mutating func add(_ instance: String) throws {
        targets.add(instance, at: [try #require(SocketAddress(text: "127.0.0.1:4000"))], now: now)
    }

    /// Calls whoever is next as often as that is possible, and ends each call in this way.
    private mutating func calls(_ end: JoinTargets.CallEnd, wasGuess: Bool, most: Int = 100) -> Int {
        for count in 0..<most {
            guard let next = targets.nextTime else { return count }
            now = max(now, next)
            guard let target = targets.next(now: now) else { return count }
            targets.ended(target.instance, end, wasGuess: wasGuess, now: now)
        }
        return most
    }

    @Test mutating func `a call that is cut before the proof is repeated`() throws {
        try add("one")
        #expect(calls(.cut, wasGuess: false) == 100)
        #expect(calls(.busy(.zero), wasGuess: false) == 100)
    }

    @Test mutating func `a false inviter gets five proofs however it ends the calls`() throws {
        try add("one")
        #expect(calls(.cut, wasGuess: true, most: 2) == 2)
        #expect(calls(.busy(.zero), wasGuess: true) == 3)
        #expect(targets.nextTime == nil)
        #expect(targets.failure.reason == .untrusted)
    }

    @Test mutating func `several false inviters get five proofs together`() throws {
        for number in 0..<4 { try add("inviter \(number)") }
        #expect(calls(.cut, wasGuess: true) == 5)
    }

    @Test mutating func `who refuses the code is not asked again`() throws {
        for number in 0..<3 { try add("inviter \(number)") }
        #expect(calls(.over(.wrongCode), wasGuess: true) == 3)
        #expect(targets.failure.reason == .wrongCode)
    }
}
