import COpenSSL
import HandoffCrypto
import Synchronization
import Testing

struct TLSSessionTests {
    @Test func `both sides agree on the hybrid group where OpenSSL has it`() throws {
        let pair = try Pair()
        #expect(ERR_peek_error() == 0, "an unknown group leaves no error in the queue")
        try pair.open()
        let hello = try #require(Pair().client.start())
        let isKnown = (try? RawPeer(client: RawPeer.Settings(groups: "X25519MLKEM768", key: TestKey()))) != nil
        #expect([pair.client, pair.server].map(\.group) == Array(repeating: isKnown ? .hybrid : .classic, count: 2))
        #expect(hello.count <= 5 + 4096 && (hello.count > 1024) == isKnown)
    }

    @Test func `a client without the hybrid group is accepted`() throws {
        let client = try RawPeer(client: RawPeer.Settings(groups: "X25519", key: TestKey()))
        let context = try TLSContext(identity: TLSIdentity(key: SigningKey()), role: .server)
        let session = try TLSSession(context: context, accepts: { _ in true })
        session.receive(client.step())
        #expect(session.step() == .incomplete)
        #expect(!session.takeCiphertext().isEmpty)
    }

    @Test(arguments: [1, 7, 1000, Int.max])
    func `both sides know the peer's key after the handshake`(cut: Int) throws {
        let pair = try Pair()
        let steps = try pair.handshake(cut: cut)
        #expect(steps == (.done, .done))
        #expect(pair.client.peerKey == pair.serverKey.publicKey)
        #expect(pair.server.peerKey == pair.clientKey.publicKey)
    }

    @Test func `no key is known before the handshake is done`() throws {
        let pair = try Pair()
        let hello = try #require(pair.client.start())
        #expect(pair.client.start() == nil)
        #expect(pair.server.start() == nil)
        pair.server.receive(hello)
        #expect(pair.server.step() == .incomplete)
        #expect(pair.server.peerKey == nil)
        #expect(!pair.server.isOpen)
    }

    @Test func `hello is one record that fits the gate`() throws {
        let hello = try #require(Pair().client.start())
        #expect(hello[0] == 22)
        #expect(Int(hello[3]) << 8 | Int(hello[4]) == hello.count - 5)
        #expect(hello.count <= 1024 + 5)
    }

    @Test func `accepts is called once with the peer's key`() throws {
        let asked = Mutex<[PublicKey]>([])
        let pair = try Pair(serverAccepts: { key in
            asked.withLock { $0.append(key) }
            return true
        })
        try pair.open()
        #expect(asked.withLock { $0 } == [pair.clientKey.publicKey])
    }

    @Test(arguments: [1, 3, 16_384, 16_385, 1_000_000])
    func `data arrives in order and whole`(count: Int) throws {
        let pair = try Pair()
        try pair.open()
        let data = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        try pair.client.write(data)
        let ciphertext = pair.client.takeCiphertext()
        let records = (count + 16_383) / 16_384
        #expect(ciphertext.count == count + records * 22)
        pair.server.receive(ciphertext)
        #expect(try readAll(pair.server) == (data, .wouldBlock))
        try pair.server.write(data.reversed())
        pair.client.receive(pair.server.takeCiphertext())
        #expect(try readAll(pair.client) == (data.reversed(), .wouldBlock))
    }

    @Test func `data may arrive in pieces of any size`() throws {
        let pair = try Pair()
        try pair.open()
        let data = (0..<50_000).map { UInt8(truncatingIfNeeded: $0) }
        try pair.client.write(data)
        var rest = pair.client.takeCiphertext()[...]
        var received: [UInt8] = []
        var cut = 1
        while !rest.isEmpty {
            pair.server.receive(Array(rest.prefix(cut)))
            rest = rest.dropFirst(cut)
            cut = cut * 5 % 4999 + 1
            received += try readAll(pair.server).bytes
        }
        #expect(received == data)
    }

    @Test(arguments: [(1000, 700), (100_000, 5000), (5000, 100_000), (65_536, 65_536)])
    func `bulk data passes through reused memory`(sent: Int, taken: Int) throws {
        let pair = try Pair()
        try pair.open()
        var wire: [UInt8] = []
        var received: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 20_000)
        let data = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 / 253) }
        for start in stride(from: 0, to: data.count, by: sent) {
            try pair.client.write(Array(data[start..<min(start + sent, data.count)]))
            // The socket accepts fewer bytes than offered.
            pair.client.drainCiphertext { bytes in
                wire += bytes.prefix(taken)
                return min(bytes.count, taken)
            }
            try pass(&wire, to: pair.server, by: taken, &received, &buffer)
        }
        while pair.client.pendingCiphertext > 0 {
            pair.client.drainCiphertext { bytes in
                wire += bytes
                return bytes.count
            }
        }
        #expect(pair.client.takeCiphertext().isEmpty)
        while !wire.isEmpty { try pass(&wire, to: pair.server, by: taken, &received, &buffer) }
        #expect(received == data)
        pair.client.close()
        pair.server.receive(pair.client.takeCiphertext())
        #expect(try buffer.withUnsafeMutableBytes { try pair.server.read(into: $0) } == .closed)
    }

    private func pass(
        _ wire: inout [UInt8], to session: TLSSession, by step: Int, _ received: inout [UInt8], _ buffer: inout [UInt8]
    ) throws {
        session.receive(upTo: step) { target in
            let count = min(wire.count, target.count)
            target.copyBytes(from: wire.prefix(count))
            wire.removeFirst(count)
            return count
        }
        while case .bytes(let count) = try buffer.withUnsafeMutableBytes({ try session.read(into: $0) }) {
            received += buffer.prefix(count)
        }
    }

    @Test func `data after the client's last flight is read immediately`() throws {
        let pair = try Pair()
        pair.server.receive(try #require(pair.client.start()))
        _ = pair.server.step()
        pair.client.receive(pair.server.takeCiphertext())
        #expect(pair.client.step() == .done)
        try pair.client.write([1, 2, 3])
        pair.server.receive(pair.client.takeCiphertext())
        #expect(pair.server.step() == .done)
        #expect(try pair.server.read() == .bytes([1, 2, 3]))
        #expect(try pair.server.read() == .wouldBlock)
    }

    @Test func `an end differs from a cut`() throws {
        let pair = try Pair()
        try pair.open()
        try pair.client.write([1])
        pair.client.close()
        pair.server.receive(pair.client.takeCiphertext())
        #expect(try pair.server.read() == .bytes([1]))
        #expect(try pair.server.read() == .closed)
        #expect(try pair.server.read() == .closed)
        // The other direction still works.
        try pair.server.write([2])
        pair.client.receive(pair.server.takeCiphertext())
        #expect(try pair.client.read() == .bytes([2]))
        // Without the record there is no end: the connection must treat it as a cut.
        #expect(try pair.client.read() == .wouldBlock)
    }

    @Test func `sending key changes after the given amount`() throws {
        let pair = try Pair(bytesPerKey: 1000)
        try pair.open()
        var received: [UInt8] = []
        for round in 0..<50 {
            try pair.client.write([UInt8](repeating: UInt8(round), count: 100))
            pair.server.receive(pair.client.takeCiphertext())
            received += try readAll(pair.server).bytes
        }
        #expect(pair.client.keyUpdates == 4)
        #expect(pair.server.keyUpdates == 0)
        #expect(received == (0..<50).flatMap { [UInt8](repeating: UInt8($0), count: 100) })
        try pair.server.write([9])
        pair.client.receive(pair.server.takeCiphertext())
        #expect(try pair.client.read() == .bytes([9]))
    }

    @Test func `changed record ends the session`() throws {
        let pair = try Pair()
        try pair.open()
        try pair.client.write([1, 2, 3])
        var ciphertext = pair.client.takeCiphertext()
        ciphertext[8] ^= 1
        pair.server.receive(ciphertext)
        #expect(throws: TLSError.self) { try pair.server.read() }
        #expect(throws: TLSError.self) { try pair.server.read() }
        #expect(throws: TLSError.self) { try pair.server.write([1]) }
        #expect(pair.server.peerKey == nil)
        // The peer learns the reason.
        pair.client.receive(pair.server.takeCiphertext())
        #expect(throws: TLSError.alert(20)) { try pair.client.read() }
    }

    @Test func `data before a changed record is still read`() throws {
        let pair = try Pair()
        try pair.open()
        try pair.client.write([1])
        try pair.client.write([2])
        var ciphertext = pair.client.takeCiphertext()
        ciphertext[ciphertext.count - 1] ^= 1
        pair.server.receive(ciphertext)
        #expect(try pair.server.read() == .bytes([1]))
        #expect(throws: TLSError.self) { try pair.server.read() }
    }

    @Test func `exported bytes are equal on both sides and different in other sessions`() throws {
        let pair = try Pair()
        try pair.open()
        let label = "EXPORTER-Channel-Binding"
        let exported = try pair.client.exporter(label: label, context: [], count: 32)
        #expect(try pair.server.exporter(label: label, context: [], count: 32) == exported)
        #expect(try pair.server.exporter(label: label, context: [1], count: 32) != exported)
        let other = try Pair()
        try other.open()
        #expect(try other.client.exporter(label: label, context: [], count: 32) != exported)
    }

    @Test func `certificate of a key is always the same`() throws {
        let key = try SigningKey()
        let first = try Self.certificateDigest(of: key)
        #expect(try Self.certificateDigest(of: SigningKey(seed: key.seed)) == first)
        #expect(try Self.certificateDigest(of: SigningKey()) != first)
    }

    @Test func `pairing neither requests nor receives a joiner's certificate`() throws {
        let key = try SigningKey()
        let server = try TLSSession(
            context: TLSContext(pairingServer: TLSIdentity(key: key)), accepts: { _ in false })
        let client = try TLSSession(context: .pairingClient(), accepts: { $0 == key.publicKey })
        server.receive(try #require(client.start()))
        #expect(server.step() == .incomplete)
        client.receive(server.takeCiphertext())
        #expect(client.step() == .done)
        server.receive(client.takeCiphertext())
        #expect(server.step() == .done)
        #expect(server.peerKey == nil)
        let label = "EXPORTER-Channel-Binding"
        #expect(
            try server.exporter(label: label, context: [], count: 32)
                == client.exporter(label: label, context: [], count: 32))
    }

    @Test func `pairing and device connections do not mix`() throws {
        let identity = try TLSIdentity(key: SigningKey())
        let server = try TLSSession(context: TLSContext(identity: identity, role: .server), accepts: { _ in true })
        let client = try TLSSession(context: .pairingClient(), accepts: { _ in true })
        server.receive(try #require(client.start()))
        #expect(server.step() == .failed(.wrongApplicationProtocol))
    }

    @Test(arguments: [TLSContext.applicationProtocol, TLSContext.streamProtocol])
    func `device server accepts control connections and streams`(name: String) throws {
        let identity = try TLSIdentity(key: SigningKey())
        let both = [TLSContext.applicationProtocol, TLSContext.streamProtocol]
        let server = try TLSSession(
            context: TLSContext(identity: identity, role: .server, protocols: both), accepts: { _ in true })
        let client = try TLSSession(
            context: TLSContext(identity: identity, role: .client, protocols: [name]), accepts: { _ in true })
        server.receive(try #require(client.start()))
        #expect(server.step() == .incomplete)
        client.receive(server.takeCiphertext())
        #expect(client.step() == .done)
        server.receive(client.takeCiphertext())
        #expect(server.step() == .done)
        #expect(server.agreedProtocol == name)
        #expect(client.agreedProtocol == name)
    }

    /// Returns SHA-256 of the certificate that a server with this key sends.
    private static func certificateDigest(of key: SigningKey) throws -> [UInt8] {
        let client = try RawPeer(client: RawPeer.Settings(key: TestKey()))
        let session = try TLSSession(
            context: TLSContext(identity: TLSIdentity(key: key), role: .server), accepts: { _ in true })
        session.receive(client.step())
        _ = session.step()
        _ = client.step(session.takeCiphertext())
        let certificate = try #require(SSL_get1_peer_certificate(client.ssl))
        defer { X509_free(certificate) }
        var digest = [UInt8](repeating: 0, count: 32)
        try #require(X509_digest(certificate, EVP_sha256(), &digest, nil) == 1)
        return digest
    }
}

/// Returns all available plaintext, and the result of the last read.
func readAll(_ session: TLSSession) throws -> (bytes: [UInt8], end: TLSRead) {
    var all: [UInt8] = []
    while true {
        let read = try session.read()
        guard case .bytes(let bytes) = read else { return (all, read) }
        all += bytes
    }
}
