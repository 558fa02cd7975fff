import HandoffCrypto
import Testing

@testable import HandoffPairing

/// Messages that a peer with the code can send but a joiner does not, such as foreign identities.
@Suite struct PairingForgeryTests {
    private static let identities = SPAKE2Identities(
        a: Array("handoff/1 joiner".utf8), b: Array("handoff/1 inviter".utf8),
        additionalData: Array("handoff/1 pair".utf8) + PairingSamples.exporter)

    /// `w` of the sample link.
    private func password() throws -> P256Scalar {
        let wide = try HKDF.derive(
            SecretBytes(copying: [UInt8](repeating: 1, count: 16)), salt: PairingSamples.salt().bytes,
            info: Array("handoff/1 pair link".utf8), count: 48)
        return try #require(try P256Scalar(reducing: wide))
    }

    @Test
    func `a share that fits a single code reveals whether it is right only by a guess that counts`() throws {
        let share = try PairingSamples.blindAlone(.a, password(), Self.identities)
        var inviter = try SessionPair().inviter
        _ = inviter.start()
        let answer = inviter.received(PairingFrame(.shareA, share).encoded)
        guard answer.count == 1, case .send = answer.first else { throw Unexpected() }
        #expect(inviter.received(PairingFrame(.confirmA, [UInt8](repeating: 0, count: 32)).encoded) == [.guess])
        #expect(inviter.checkGuess() == [.wrongGuess])
    }

    @Test
    func `an impostor's share that fits a single code is answered with a proof that counts`() throws {
        let share = try PairingSamples.blindAlone(.b, password(), Self.identities)
        var joiner = try SessionPair().joiner
        _ = joiner.received(PairingFrame(.salt, try PairingSamples.salt().bytes).encoded)
        _ = joiner.use(try PairingSamples.password())
        let answer = joiner.received(PairingFrame(.shareB, share).encoded)
        guard answer.count == 1, case .send = answer.first else { throw Unexpected() }
        #expect(joiner.hasUnansweredProof)
    }

    /// A hand-written joiner: an inviter that has accepted the proof, and the joiner's seal.
    private func proved() throws -> (inviter: InviterSession, seal: PairingSeal) {
        let exchange = try SPAKE2(role: .a, password: password(), identities: Self.identities)
        var inviter = try SessionPair().inviter
        _ = inviter.start()
        let answer = inviter.received(PairingFrame(.shareA, exchange.share).encoded)
        guard case .send(let shareB) = answer.first else { throw Unexpected() }
        let keys = try #require(try exchange.keys(for: Array(shareB.dropFirst(5))))
        let guess = inviter.received(PairingFrame(.confirmA, keys.confirmation).encoded)
        #expect(guess == [.guess])
        #expect(inviter.checkGuess().count == 2)
        let seal = try PairingSeal(sharedKey: keys.sharedKey, exporter: PairingSamples.exporter, role: .joiner)
        return (inviter, seal)
    }

    private struct Unexpected: Error {}

    private func identity(
        key: SigningKey, name: [UInt8] = Array("second".utf8), signer: SigningKey? = nil, role: UInt8 = 0,
        exporter: [UInt8] = PairingSamples.exporter, domain: String = "handoff/1 pair"
    ) throws -> [UInt8] {
        let info = key.publicKey.subjectPublicKeyInfo
        let signed = Array(domain.utf8) + [0, role] + exporter + info
        return try info + [UInt8(name.count)] + name + (signer ?? key).sign(signed)
    }

    private func outcome(_ plaintext: [UInt8]) throws -> [InviterAction] {
        var (inviter, seal) = try proved()
        return inviter.received(try seal.seal(.identity, plaintext).encoded)
    }

    @Test func `the device's own identity is accepted`() throws {
        let key = try PairingSamples.joinerKey()
        let actions = try outcome(try identity(key: key))
        #expect(actions.last == .joiner(PairingPeer(publicKey: key.publicKey, name: "second")))
    }

    @Test func `another device's key is rejected`() throws {
        let victim = try PairingSamples.key(0xC3)
        let forged = try identity(key: victim, signer: PairingSamples.joinerKey())
        #expect(try outcome(forged) == [.ended(.violation(.identity))])
    }

    @Test func `an identity of another connection is rejected`() throws {
        let replayed = try identity(key: PairingSamples.joinerKey(), exporter: PairingSamples.otherExporter)
        #expect(try outcome(replayed) == [.ended(.violation(.identity))])
    }

    @Test func `the identity of the other role is rejected`() throws {
        let swapped = try identity(key: PairingSamples.joinerKey(), role: 1)
        #expect(try outcome(swapped) == [.ended(.violation(.identity))])
    }

    @Test func `a signature for another purpose is rejected`() throws {
        let other = try identity(key: PairingSamples.joinerKey(), domain: "handoff/1 statement")
        #expect(try outcome(other) == [.ended(.violation(.identity))])
    }

    @Test(arguments: [
        [], [UInt8](repeating: 0x61, count: 65), [0xFF], [0xC3], [0xED, 0xA0, 0x80],
    ])
    func `names that are empty, too long or not UTF-8 are rejected`(_ name: [UInt8]) throws {
        // A frame with an empty name is too short unless it is padded.
        let plaintext = try identity(key: PairingSamples.joinerKey(), name: name) + (name.isEmpty ? [0] : [])
        #expect(try outcome(plaintext) == [.ended(.violation(.identity))])
    }

    @Test(arguments: [1, 64])
    func `names of 1 and of 64 bytes are accepted`(_ count: Int) throws {
        let name = [UInt8](repeating: 0x61, count: count)
        #expect(try outcome(identity(key: PairingSamples.joinerKey(), name: name)).count == 2)
    }

    @Test func `bytes after the signature are rejected`() throws {
        let longer = try identity(key: PairingSamples.joinerKey()) + [0]
        #expect(try outcome(longer) == [.ended(.violation(.identity))])
    }

    @Test func `a key of another algorithm is rejected`() throws {
        var other = try identity(key: PairingSamples.joinerKey())
        other[8] = 0x6F  // Ed448 is 1.3.101.113, X448 .111
        #expect(try outcome(other) == [.ended(.violation(.identity))])
    }

    @Test(arguments: 0..<4)
    func `a frame of another kind, counter, direction or key does not open`(_ fault: Int) throws {
        var (inviter, seal) = try proved()
        let plaintext = try identity(key: PairingSamples.joinerKey())
        switch fault {
        case 0:
            let other = try seal.seal(.account, plaintext)
            seal = try proved().seal
            #expect(inviter.received(PairingFrame(.identity, other.body).encoded) == [.ended(.violation(.seal))])
            return
        case 1: _ = try seal.seal(.identity, [])
        case 2:
            let shared = SecretBytes(copying: [UInt8](repeating: 1, count: 16))
            seal = try PairingSeal(sharedKey: shared, exporter: PairingSamples.exporter, role: .joiner)
        default: seal = try proved().seal
        }
        #expect(inviter.received(try seal.seal(.identity, plaintext).encoded) == [.ended(.violation(.seal))])
    }

    @Test
    func `a seal opens frames of the other direction, once, in order, for one exporter`() throws {
        let shared = SecretBytes(copying: [UInt8](repeating: 1, count: 16))
        func make(_ role: PairingRole, _ exporter: [UInt8] = PairingSamples.exporter) throws -> PairingSeal {
            try PairingSeal(sharedKey: shared, exporter: exporter, role: role)
        }
        var joiner = try make(.joiner)
        let first = try joiner.seal(.identity, [1])
        let second = try joiner.seal(.identity, [1])
        #expect(first.body != second.body)
        var inviter = try make(.inviter)
        #expect(inviter.open(first) == [1])
        #expect(inviter.open(first) == nil)
        inviter = try make(.inviter)
        #expect(inviter.open(second) == nil)
        var reflected = try make(.joiner)
        #expect(reflected.open(first) == nil)
        var elsewhere = try make(.inviter, PairingSamples.otherExporter)
        #expect(elsewhere.open(first) == nil)
        inviter = try make(.inviter)
        #expect(inviter.open(PairingFrame(.stored, first.body)) == nil)
    }
}
