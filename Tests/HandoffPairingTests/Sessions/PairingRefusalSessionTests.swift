import HandoffPairing
import Testing

/// Either side can refuse at any time, and the other receives the reason.
@Suite struct PairingRefusalSessionTests {
    static let reasons = PairingRefusalTests.all.map(\.0)

    @Test(arguments: reasons)
    func `the window refuses to verify a guess`(_ reason: PairingRefusal) throws {
        var pair = try SessionPair()
        pair.judgement = reason
        try pair.run()
        #expect(pair.inviterEnds == [.refused(reason)])
        #expect(pair.joinerEnds == [.refusedByPeer(reason)])
        #expect(pair.rightGuesses == 0 && pair.wrongGuesses == 0 && pair.asked == nil)
    }

    @Test(arguments: reasons)
    func `the user refuses`(_ reason: PairingRefusal) throws {
        var pair = try SessionPair()
        pair.answer = reason
        try pair.run()
        #expect(pair.inviterEnds == [.refused(reason)])
        #expect(pair.joinerEnds == [.refusedByPeer(reason)])
        #expect(pair.asked != nil)
        #expect(pair.received == nil)
    }

    @Test(arguments: 0..<9)
    func `before every message`(_ number: Int) throws {
        var whole = try SessionPair()
        try whole.run()
        var (inviter, joiner) = whole.snapshots[number]
        if !inviter.isEnded {
            var other = joiner
            guard case .send(let bytes) = inviter.refuse(.failed).first else {
                Issue.record("nothing was sent")
                return
            }
            if !other.isEnded {
                guard case .ended(.refusedByPeer(.failed)) = other.received(bytes).last else {
                    Issue.record("the joiner did not receive it")
                    return
                }
            }
            #expect(inviter.isEnded && other.isEnded)
            #expect(inviter.refuse(.failed).isEmpty)
            #expect(inviter.received([1, 2, 3]).isEmpty)
            #expect(inviter.checkGuess().isEmpty)
        }
        inviter = whole.snapshots[number].inviter
        if !joiner.isEnded {
            guard case .send(let bytes) = joiner.cancel().first else {
                Issue.record("nothing was sent")
                return
            }
            if !inviter.isEnded {
                #expect(inviter.received(bytes) == [.ended(.refusedByPeer(.cancelled))])
            }
            #expect(joiner.isEnded && joiner.cancel().isEmpty && joiner.stored().isEmpty)
        }
    }

    @Test
    func `an invalid refusal also ends the session`() throws {
        var inviter = try SessionPair().inviter
        _ = inviter.start()
        #expect(inviter.received([0, 0, 0, 2, 9, 4]) == [.ended(.violation(.layout))])
    }

    @Test(arguments: 0..<9)
    func `the joiner knows when the peer has had a guess at its code`(_ number: Int) throws {
        var whole = try SessionPair()
        try whole.run()
        var joiner = whole.snapshots[number].joiner
        // From the answer to share B (message 2) until the inviter's own proof (message 4) has
        // arrived.
        let isOpen = number == 3 || number == 4
        #expect(joiner.hasUnansweredProof == isOpen)
        _ = joiner.received(PairingFrame(.refusal, PairingRefusal.busy(seconds: 1).body).encoded)
        #expect(joiner.hasUnansweredProof == isOpen, "a refusal changed it")
    }

    @Test
    func `a wrong proof of the inviter leaves the joiner's proof unanswered`() throws {
        var pair = try SessionPair()
        try pair.run { message in
            guard message.bytes[4] == PairingFrameKind.confirmB.rawValue else { return message.bytes }
            return PairingFrame(.confirmB, [UInt8](repeating: 0, count: 32)).encoded
        }
        #expect(pair.joinerEnds == [.wrongConfirmation])
        #expect(pair.joiner.hasUnansweredProof)
    }
}
