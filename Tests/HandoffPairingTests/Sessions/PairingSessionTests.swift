import HandoffAccount
import HandoffCrypto
import HandoffModel
import HandoffPairing
import Testing

/// Two devices pair.
@Suite struct PairingSessionTests {
    @Test(arguments: [0, 1, 2, 5, 64, 1_000])
    func `with bytes in any pieces`(_ cut: Int) throws {
        var pair = try SessionPair()
        pair.cut = cut
        try pair.run()
        #expect(pair.inviterEnds == [.finished])
        #expect(pair.joinerEnds == [.finished])
        #expect(pair.isStored)
        #expect(pair.rightGuesses == 1)
        #expect(pair.wrongGuesses == 0)
        let joiner = DeviceID(try PairingSamples.joinerKey().publicKey)
        #expect(pair.asked?.device == joiner)
        #expect(pair.asked?.name == "second")
        #expect(pair.inviterSeen?.device == DeviceID(try PairingSamples.inviterKey().publicKey))
        #expect(pair.inviterSeen?.name == "first")
        let received = try #require(pair.received)
        let state = try received.state(for: joiner, inviter: #require(pair.inviterSeen), now: 0)
        #expect(state.isCurrent)
        #expect(state.roster.digest == pair.account.roster.digest)
        #expect(state.accountKey == pair.account.accountKey)
    }

    @Test
    func `in the order of the protocol`() throws {
        var pair = try SessionPair()
        try pair.run()
        #expect(pair.messages.map(\.bytes[4]) == [1, 2, 3, 4, 5, 6, 6, 7, 8])
        #expect(
            pair.messages.map(\.sender) == [
                .inviter, .joiner, .inviter, .joiner, .inviter, .joiner, .inviter, .inviter, .joiner,
            ])
    }

    @Test
    func `with the digits too`() throws {
        let code = try #require(PairingCode("1234 5678"))
        let password = try #require(try PairingPassword(code: code, salt: PairingSamples.salt()))
        var pair = try SessionPair(inviterPassword: password, joinerPassword: password)
        try pair.run()
        #expect(pair.isStored)
    }

    @Test
    func `not with another code: the inviter counts a guess and has revealed nothing`() throws {
        var pair = try SessionPair(joinerPassword: PairingSamples.password(2))
        try pair.run()
        #expect(pair.wrongGuesses == 1)
        #expect(pair.rightGuesses == 0)
        #expect(pair.inviterEnds == [.refused(.wrongCode)])
        #expect(pair.joinerEnds == [.refusedByPeer(.wrongCode)])
        #expect(pair.asked == nil && pair.inviterSeen == nil && pair.received == nil)
        // Salt, shares, a wrong proof and a refusal, but no confirmation. A guess can therefore be
        // tested only here.
        #expect(pair.messages.map(\.bytes[4]) == [1, 2, 3, 4, 9])
    }

    @Test
    func `not with a salt that was modified in transit`() throws {
        let link = PairingSamples.link()
        let other = try #require(PairingSalt(bytes: [UInt8](repeating: 1, count: 16)))
        let password = try #require(try PairingPassword(link: link, salt: other))
        var pair = try SessionPair(joinerPassword: password)
        try pair.run()
        #expect(pair.wrongGuesses == 1)
        #expect(pair.received == nil)
    }

    @Test
    func `not with a man in the middle that has a TLS connection to each`() throws {
        var pair = try SessionPair(joinerExporter: PairingSamples.otherExporter)
        try pair.run()
        #expect(pair.wrongGuesses == 1)
        #expect(pair.inviterEnds == [.refused(.wrongCode)])
        #expect(pair.received == nil)
    }

    @Test
    func `not with an inviter that sends a proof without knowing the code`() throws {
        var pair = try SessionPair()
        try pair.run { message in
            guard message.bytes[4] == PairingFrameKind.confirmB.rawValue else { return message.bytes }
            return PairingFrame(.confirmB, [UInt8](repeating: 0, count: 32)).encoded
        }
        #expect(pair.joinerEnds == [.wrongConfirmation])
        #expect(pair.inviterSeen == nil && pair.asked == nil)
    }

    @Test
    func `not with an echo: reflected shares and proofs prove nothing`() throws {
        // The joiner's peer only repeats its messages.
        var joiner = JoinerSession(
            exporter: PairingSamples.exporter, identity: try PairingSamples.joinerKey(), name: "second")
        _ = joiner.received(PairingFrame(.salt, try PairingSamples.salt().bytes).encoded)
        let share = try #require(sent(joiner.use(try PairingSamples.password())))
        let proof = try #require(sent(joiner.received(PairingFrame(.shareB, Array(share.dropFirst(5))).encoded)))
        let end = joiner.received(PairingFrame(.confirmB, Array(proof.dropFirst(5))).encoded)
        guard case .ended(.wrongConfirmation) = end.first else {
            Issue.record("\(end)")
            return
        }
        // The inviter receives a share of its own role, and sends no proof before it has verified
        // the joiner's.
        var inviter = try SessionPair().inviter
        _ = inviter.start()
        let own = try PairingSamples.scalar(3)
        let identities = SPAKE2Identities(a: [], b: [], additionalData: [])
        let point = try SPAKE2(role: .b, password: own, identities: identities).share
        #expect(inviter.received(PairingFrame(.shareA, point).encoded).count == 1)
        #expect(inviter.received(PairingFrame(.confirmA, [UInt8](repeating: 0, count: 32)).encoded) == [.guess])
        #expect(inviter.checkGuess() == [.wrongGuess])
    }

    @Test
    func `not with itself`() throws {
        var pair = try SessionPair(joinerKey: PairingSamples.inviterKey())
        try pair.run()
        #expect(pair.inviterEnds == [.violation(.reflection)])
        #expect(pair.asked == nil && pair.received == nil)
    }

    @Test(arguments: [PairingFrameKind.shareA, .shareB])
    func `not when a share is not a point`(_ kind: PairingFrameKind) throws {
        var pair = try SessionPair()
        try pair.run { message in
            guard message.bytes[4] == kind.rawValue else { return message.bytes }
            return PairingFrame(kind, [4] + [UInt8](repeating: 0, count: 64)).encoded
        }
        #expect((kind == .shareA ? pair.inviterEnds : pair.joinerEnds) == [.violation(.share)])
        #expect(pair.wrongGuesses == 0, "garbage counted as a guess")
    }

    private func sent(_ actions: [JoinerAction]) -> [UInt8]? {
        guard case .send(let bytes) = actions.first else { return nil }
        return bytes
    }
}
