import COpenSSL
import HandoffCrypto
import Testing

/// Clients that our server must reject: every way in which a client may violate the protocol. The
/// client here is plain OpenSSL.
struct ServerRefusalTests {
    @Test func `client that follows the protocol is accepted`() throws {
        let key = try TestKey()
        let outcome = try connect(RawPeer.Settings(key: key), accepts: { _ in true })
        #expect(outcome.step == .done)
        #expect(outcome.session.peerKey == key.publicKey)
        try outcome.session.write([1, 2, 3])
        #expect(outcome.client.read(outcome.session.takeCiphertext()) == [1, 2, 3])
    }

    @Test func `a server sends nothing to resume a session with`() throws {
        let outcome = try connect(RawPeer.Settings(key: TestKey()), accepts: { _ in true })
        #expect(outcome.step == .done)
        #expect(outcome.session.takeCiphertext() == [])
        try outcome.session.write([1])
        #expect(outcome.client.read(outcome.session.takeCiphertext()) == [1])
        #expect(!outcome.client.holdsSession)
    }

    @Test func `a pairing server sends nothing to resume a session with`() throws {
        let client = try RawPeer(client: RawPeer.Settings(protocols: [TLSContext.pairingProtocol]))
        let identity = try TLSIdentity(key: SigningKey())
        let session = try TLSSession(context: TLSContext(pairingServer: identity), accepts: { _ in true })
        session.receive(client.step())
        #expect(session.step() == .incomplete)
        session.receive(client.step(session.takeCiphertext()))
        #expect(session.step() == .done)
        #expect(session.takeCiphertext() == [])
        #expect(!client.holdsSession)
    }

    @Test(arguments: [[], ["http/1.1"], ["handoff/2"], ["handoff/"], ["handoff/10", "x"]])
    func `client without our protocol is rejected`(protocols: [String]) throws {
        let outcome = try connect(RawPeer.Settings(protocols: protocols, key: TestKey()))
        #expect(outcome.step == .failed(.wrongApplicationProtocol))
    }

    @Test func `our protocol may be one of several`() throws {
        let outcome = try connect(
            RawPeer.Settings(protocols: ["http/1.1", "handoff/1"], key: TestKey()), accepts: { _ in true })
        #expect(outcome.step == .done)
    }

    @Test func `older version is rejected`() throws {
        let outcome = try connect(RawPeer.Settings(versions: (TLS1_2_VERSION, TLS1_2_VERSION), key: TestKey()))
        #expect(outcome.step.isViolation(naming: "unsupported protocol"))
    }

    @Test func `client without certificate is rejected`() throws {
        let outcome = try connect(RawPeer.Settings())
        #expect(outcome.step.isViolation(naming: "peer did not return a certificate"))
    }

    @Test func `chain of two certificates is rejected`() throws {
        let outcome = try connect(RawPeer.Settings(key: TestKey(), chain: [TestKey()]))
        #expect(outcome.step == .failed(.unsuitableCertificate))
    }

    @Test(arguments: [TestKey.Kind.p256, .rsa])
    func `key of another type is rejected`(kind: TestKey.Kind) throws {
        let outcome = try connect(RawPeer.Settings(key: TestKey(kind)))
        // OpenSSL's client does not send a certificate that matches no signature algorithm of the
        // server.
        #expect(outcome.step.isViolation(naming: "peer did not return a certificate"))
    }

    @Test func `key that is not accepted is rejected`() throws {
        let outcome = try connect(RawPeer.Settings(key: TestKey()), accepts: { _ in false })
        #expect(outcome.step == .failed(.keyNotAccepted))
        #expect(outcome.session.peerKey == nil)
        #expect(outcome.session.step() == .failed(.keyNotAccepted), "the error is permanent")
    }

    @Test func `rejection leaves no error in the thread's queue`() throws {
        let client = try RawPeer(client: RawPeer.Settings(protocols: [], key: TestKey()))
        let session = try TLSSession(testing: .server)
        session.receive(client.step())
        _ = session.step()
        session.receive(client.step(session.takeCiphertext()))
        #expect(session.step() == .failed(.wrongApplicationProtocol))
        #expect(OpenSSL.takeErrors() == "no reason given")
    }

    @Test(arguments: [("20000101000000Z", "20000102000000Z"), ("99980101000000Z", "99981231235959Z")])
    func `dates of a certificate are ignored`(dates: (String, String)) throws {
        let outcome = try connect(
            RawPeer.Settings(key: TestKey(dates: (from: dates.0, to: dates.1))), accepts: { _ in true })
        #expect(outcome.step == .done)
    }

    @Test func `other group is rejected`() throws {
        let outcome = try connect(RawPeer.Settings(groups: "P-256", key: TestKey()))
        #expect(outcome.step.isViolation(naming: "no suitable key share"))
    }

    @Test func `no second hello is requested`() throws {
        // The client supports X25519, but sends a share of its first group only.
        let client = try RawPeer(client: RawPeer.Settings(groups: "P-256:X25519", key: TestKey()))
        let session = try TLSSession(testing: .server)
        session.receive(client.step())
        #expect(session.step() == .failed(.helloRetryRequest))
        #expect(session.takeCiphertext().isEmpty, "the request is not sent")
    }

    @Test(arguments: [
        [UInt8]("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8), [UInt8](repeating: 0, count: 64),
        [UInt8](repeating: 0xff, count: 64), [22, 3, 1, 0, 4, 1, 0, 0, 0], [22, 3, 1, 0xff, 0xff] + [1],
        [23, 3, 3, 0, 1, 0],
    ])
    func `garbage is rejected`(bytes: [UInt8]) throws {
        let session = try TLSSession(testing: .server)
        session.receive(bytes)
        guard case .failed(.protocolViolation) = session.step() else {
            Issue.record("taken: \(session.step())")
            return
        }
    }

    @Test func `the server waits for the rest of a truncated hello`() throws {
        let hello = try RawPeer(client: RawPeer.Settings(key: TestKey())).step()
        for count in stride(from: 0, to: hello.count, by: 16) {
            let session = try TLSSession(testing: .server)
            session.receive(Array(hello.prefix(count)))
            #expect(session.step() == .incomplete)
            #expect(session.takeCiphertext().isEmpty)
        }
    }

    @Test func `changed hello never leads to a session`() throws {
        // A man in the middle can change the first record. The keys then differ, whatever was
        // changed.
        for index in stride(from: 5, to: 200, by: 13) {
            let client = try RawPeer(client: RawPeer.Settings(key: TestKey()))
            let session = try TLSSession(testing: .server, accepts: { _ in true })
            var hello = client.step()
            hello[index] ^= 1
            session.receive(hello)
            var step = session.step()
            for _ in 0..<3 where step == .incomplete {
                session.receive(client.step(session.takeCiphertext()))
                step = session.step()
            }
            #expect(step != .done, "byte \(index)")
        }
    }

    /// Runs a whole handshake of a plain OpenSSL client with our server.
    private func connect(
        _ settings: RawPeer.Settings, accepts: @escaping @Sendable (PublicKey) -> Bool = TLSSession.rejectsBefore
    ) throws -> (step: TLSStep, session: TLSSession, client: RawPeer) {
        let client = try RawPeer(client: settings)
        let session = try TLSSession(testing: .server, accepts: accepts)
        session.receive(client.step())
        var step = session.step()
        for _ in 0..<3 where step == .incomplete {
            session.receive(client.step(session.takeCiphertext()))
            step = session.step()
        }
        return (step, session, client)
    }
}

extension TLSStep {
    /// Returns true if the handshake failed because the peer violated the protocol, with this text
    /// in OpenSSL's error.
    func isViolation(naming text: String) -> Bool {
        if case .failed(.protocolViolation(let detail)) = self { detail.contains(text) } else { false }
    }
}
