import COpenSSL
import HandoffCrypto
import Testing

/// Servers that our client must reject: every way in which a server may violate the protocol. The
/// server here is plain OpenSSL.
struct ClientRefusalTests {
    @Test func `server that follows the protocol is accepted`() throws {
        let key = try TestKey()
        let outcome = try connect(RawPeer.Settings(key: key), accepts: { _ in true })
        #expect(outcome.step == .done)
        #expect(outcome.session.peerKey == key.publicKey)
        #expect(outcome.server.isDone)
    }

    @Test(arguments: [[], ["http/1.1"]])
    func `server without our protocol is rejected`(protocols: [String]) throws {
        let outcome = try connect(RawPeer.Settings(protocols: protocols, key: TestKey()))
        switch outcome.step {
        case .failed(.wrongApplicationProtocol): #expect(protocols.isEmpty)
        // OpenSSL itself rejects a protocol that was not offered.
        case .failed(.protocolViolation(let detail)): #expect(detail.contains("bad extension"))
        default: Issue.record("\(outcome.step)")
        }
    }

    @Test func `older version is rejected`() throws {
        let outcome = try connect(RawPeer.Settings(versions: (TLS1_2_VERSION, TLS1_2_VERSION), key: TestKey()))
        guard case .failed = outcome.step else {
            Issue.record("\(outcome.step)")
            return
        }
    }

    @Test func `chain of two certificates is rejected`() throws {
        let outcome = try connect(RawPeer.Settings(key: TestKey(), chain: [TestKey()]))
        #expect(outcome.step == .failed(.unsuitableCertificate))
    }

    @Test(arguments: [TestKey.Kind.p256, .rsa])
    func `key of another type is rejected`(kind: TestKey.Kind) throws {
        let outcome = try connect(RawPeer.Settings(key: TestKey(kind)))
        // OpenSSL's server has no signature that the client accepts, and sends handshake_failure.
        #expect(outcome.step == .failed(.alert(40)))
    }

    @Test func `key that is not accepted is rejected and the server receives an alert`() throws {
        let outcome = try connect(RawPeer.Settings(key: TestKey()), accepts: { _ in false })
        #expect(outcome.step == .failed(.keyNotAccepted))
        #expect(!outcome.server.isDone)
        #expect(outcome.server.lastError.contains("alert bad certificate"))
    }

    @Test func `expired certificate is accepted`() throws {
        let outcome = try connect(
            RawPeer.Settings(key: TestKey(dates: (from: "20000101000000Z", to: "20000102000000Z"))),
            accepts: { _ in true })
        #expect(outcome.step == .done)
    }

    @Test func `no second hello is sent`() throws {
        let server = try RawPeer(server: RawPeer.Settings(key: TestKey(), isCookieDemanded: true))
        let session = try TLSSession(testing: .client)
        let request = server.step(try #require(session.start()))
        #expect(request.count > 60, "the server requests a cookie")
        session.receive(request)
        #expect(session.step() == .failed(.helloRetryRequest))
        #expect(session.takeCiphertext().isEmpty)
    }

    @Test(arguments: [
        [UInt8]("HTTP/1.1 400 Bad Request\r\n\r\n".utf8), [UInt8](repeating: 0, count: 64), [21, 3, 3, 0, 2, 2, 40],
    ])
    func `garbage is rejected`(bytes: [UInt8]) throws {
        let session = try TLSSession(testing: .client)
        _ = session.start()
        session.receive(bytes)
        guard case .failed = session.step() else {
            Issue.record("taken: \(session.step())")
            return
        }
    }

    @Test func `rejected client receives an alert`() throws {
        let pair = try Pair(serverAccepts: { _ in false })
        let steps = try pair.handshake()
        #expect(steps.server == .failed(.keyNotAccepted))
        // In TLS 1.3 the client is done before the server has checked it. Only the server's `hello`
        // frame means acceptance.
        #expect(throws: TLSError.alert(42)) { try pair.client.read() }
    }

    /// Runs a whole handshake of our client with a plain OpenSSL server.
    private func connect(
        _ settings: RawPeer.Settings, accepts: @escaping @Sendable (PublicKey) -> Bool = TLSSession.rejectsBefore
    ) throws -> (step: TLSStep, session: TLSSession, server: RawPeer) {
        let server = try RawPeer(server: settings)
        let session = try TLSSession(testing: .client, accepts: accepts)
        var toServer = try #require(session.start())
        var step = TLSStep.incomplete
        for _ in 0..<3 where step == .incomplete {
            session.receive(server.step(toServer))
            step = session.step()
            toServer = session.takeCiphertext()
        }
        _ = server.step(toServer)
        return (step, session, server)
    }
}
