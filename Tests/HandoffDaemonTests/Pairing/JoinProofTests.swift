import HandoffDaemon
import HandoffDiscovery
import HandoffModel
import LoopIO
import Testing

/// The number of proofs of the code that a joiner sends to peers that send none.
@Suite struct JoinProofTests {
    private var targets = JoinTargets(limits: PairingLimits())
    private var now = MonotonicInstant(nanoseconds: 1)

    private mutating func add(_ instance: String) throws {
        targets.add(instance, at: [try #require(SocketAddress(text: "127.0.0.1:4000"))], now: now)
    }

    /// Calls the next inviter as often as possible, up to `limit` times, and ends each call in this
    /// way.
    private mutating func calls(_ end: JoinTargets.CallEnd, wasGuess: Bool, limit: Int = 100) -> Int {
        for count in 0..<limit {
            guard let next = targets.nextTime else { return count }
            now = max(now, next)
            guard let target = targets.next(now: now) else { return count }
            targets.ended(target.instance, end, wasGuess: wasGuess, now: now)
        }
        return limit
    }

    @Test mutating func `a call that is lost before the proof is repeated`() throws {
        try add("one")
        #expect(calls(.cut, wasGuess: false) == 100)
        #expect(calls(.busy(.zero), wasGuess: false) == 100)
    }

    @Test mutating func `an impostor gets five proofs however it ends the calls`() throws {
        try add("one")
        #expect(calls(.cut, wasGuess: true, limit: 2) == 2)
        #expect(calls(.busy(.zero), wasGuess: true) == 3)
        #expect(targets.nextTime == nil)
        #expect(targets.failure.reason == .untrusted)
    }

    @Test mutating func `several impostors get five proofs together`() throws {
        for number in 0..<4 { try add("inviter \(number)") }
        #expect(calls(.cut, wasGuess: true) == 5)
    }

    @Test mutating func `an inviter that rejects the code is not called again`() throws {
        for number in 0..<3 { try add("inviter \(number)") }
        #expect(calls(.over(.wrongCode), wasGuess: true) == 3)
        #expect(targets.failure.reason == .wrongCode)
    }
}
