import FoundationEssentials
import HandoffCrypto
import HandoffModel
import HandoffPairing
import Testing

/// Computes the worked example of pairing in docs/protocol.md and compares it with the document.
struct PairingVectorTests {
    private let vectors: [String: [UInt8]]

    init() throws {
        vectors = try Self.readVectors()
    }

    /// The group `pairing` of docs/protocol-vectors.json, which the reference peer computes and the
    /// document shows.
    private static func readVectors() throws -> [String: [UInt8]] {
        struct Groups: Decodable {
            let pairing: [String: String]
        }
        let root = #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
        let data = try Data(contentsOf: URL(filePath: "/" + root + "/docs/protocol-vectors.json"))
        return try JSONDecoder().decode(Groups.self, from: data).pairing.mapValues { try #require(Hex.decode($0)) }
    }

    private func expect(_ name: String, _ value: [UInt8], sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(vectors[name] == value, "\(name) = \(Hex.encode(value))", sourceLocation: sourceLocation)
    }

    private func given(_ name: String) throws -> [UInt8] {
        try #require(vectors[name])
    }

    private func scalar(_ name: String) throws -> P256Scalar {
        try #require(try P256Scalar(reducing: SecretBytes(copying: try given(name))))
    }

    @Test func `the example names every value once`() {
        #expect(vectors.count == 27)
    }

    @Test func `passwords`() throws {
        let salt = try given("pairSalt")
        let wide = try Scrypt(n: 1 << 16, r: 8, p: 1).derive(
            from: SecretBytes(copying: try given("code")), salt: Array("handoff/1 pair".utf8) + salt,
            count: 48)
        expect("w", try #require(try P256Scalar(reducing: wide)).bytes.exposedCopy())
        let secret = SecretBytes(copying: try given("linkSecret"))
        let linkWide = try HKDF.derive(secret, salt: salt, info: Array("handoff/1 pair link".utf8), count: 48)
        expect("linkW", try #require(try P256Scalar(reducing: linkWide)).bytes.exposedCopy())
        let link = PairingLink(secret: secret, candidates: ["192.0.2.1:24863"])
        expect("linkText", Array(link.text.utf8))
        expect("linkToken", try #require(link.token(clientHello: try given("pairClientHello"))))
    }

    @Test func `keys`() throws {
        let identities = SPAKE2Identities(
            a: Array("handoff/1 joiner".utf8), b: Array("handoff/1 inviter".utf8),
            additionalData: Array("handoff/1 pair".utf8) + (try given("exporter")))
        let a = try SPAKE2(role: .a, password: scalar("w"), identities: identities, scalar: scalar("x"))
        let b = try SPAKE2(role: .b, password: scalar("w"), identities: identities, scalar: scalar("y"))
        expect("shareA", a.share)
        expect("shareB", b.share)
        let keys = try #require(try a.keys(for: b.share))
        expect("sharedKey", keys.sharedKey.exposedCopy())
        expect("confirmA", keys.confirmation)
        expect("confirmB", try #require(try b.keys(for: a.share)).confirmation)
        let transfer = try HKDF.derive(
            keys.sharedKey, salt: [], info: Array("handoff/1 pair transfer".utf8) + given("exporter"), count: 32)
        expect("transferKey", transfer.exposedCopy())
    }

    /// Runs the sessions with the scalars of the example and compares every frame.
    @Test func `frames`() throws {
        let code = try #require(PairingCode(String(decoding: try given("code"), as: UTF8.self)))
        let salt = try #require(PairingSalt(bytes: try given("pairSalt")))
        let password = try #require(try PairingPassword(code: code, salt: salt))
        let joinerKey = try SigningKey(seed: SecretBytes(copying: try given("seedJoiner")))
        let inviterKey = try SigningKey(seed: SecretBytes(copying: try given("seedInviter")))
        var inviter = InviterSession(
            password: password, salt: salt, exporter: try given("exporter"), identity: inviterKey, name: "desk",
            scalar: try scalar("y"))
        var joiner = JoinerSession(
            exporter: try given("exporter"), identity: joinerKey, name: "Café", scalar: try scalar("x"))
        expect("frameSalt", try sent(inviter.start()))
        _ = joiner.received(try given("frameSalt"))
        expect("frameShareA", try sent(joiner.use(password)))
        _ = inviter.received(try given("frameShareA"))
        _ = joiner.received([0, 0, 0, 66, 3] + (try given("shareB")))
        _ = inviter.received([0, 0, 0, 33, 4] + (try given("confirmA")))
        _ = inviter.checkGuess()
        expect("frameIdentityJoiner", try sent(joiner.received([0, 0, 0, 33, 5] + (try given("confirmB")))))
        expect("frameIdentityInviter", try sent(inviter.received(try given("frameIdentityJoiner"))))
        _ = joiner.received(try given("frameIdentityInviter"))
        let account = inviter.handOver(
            epoch: 7, accountKey: SecretBytes(copying: try given("pairAccountKey")),
            statements: try given("pairStatements"))
        expect("frameAccount", try sent(account))
        let received = joiner.received(try given("frameAccount"))
        guard case .account(let paired) = received.first else {
            Issue.record("\(received)")
            return
        }
        #expect(paired.epoch == 7)
        expect("pairStatements", paired.statements)
        expect("frameStored", try sent(joiner.stored()))
        #expect(inviter.received(try given("frameStored")) == [.stored, .ended(.finished)])
    }

    private func sent(_ actions: [InviterAction]) throws -> [UInt8] {
        guard case .send(let bytes) = actions.first else { throw Nothing() }
        return bytes
    }

    private func sent(_ actions: [JoinerAction]) throws -> [UInt8] {
        guard case .send(let bytes) = actions.first else { throw Nothing() }
        return bytes
    }

    private struct Nothing: Error {}
}
