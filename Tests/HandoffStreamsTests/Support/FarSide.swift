import Glibc
import HandoffCrypto
import HandoffStreams
import LoopIO
import Testing

/// The other device of a stream, at the level of TLS. The test determines the content.
final class FarSide {
    /// The end of the connection.
    enum End: Equatable {
        /// By close_notify.
        case closed
        /// By TCP only.
        case cut
    }

    let session: TLSSession
    let socket: RawSocket
    private var plaintext: [UInt8] = []
    /// The number of bytes read.
    private var start = 0
    private var end: End?

    init(_ session: TLSSession, _ socket: RawSocket) {
        self.session = session
        self.socket = socket
    }

    /// Creates both ends of a connection that has completed its handshake.
    ///
    /// - Parameter nearIsServer: true if the side under test accepted the connection.
    static func connected(
        nearIsServer: Bool, bytesPerKey: UInt64 = TLSContext.defaultBytesPerKey
    ) throws -> (near: StreamChannel, far: FarSide) {
        let (client, server) = try sessions(bytesPerKey)
        let (one, other) = try RawSocket.tcp()
        let near = nearIsServer ? server : client
        let far = nearIsServer ? client : server
        return (StreamChannel(try one.take(), session: near), FarSide(far, other))
    }

    /// Creates two sessions that have completed their handshake.
    static func sessions(_ bytesPerKey: UInt64 = TLSContext.defaultBytesPerKey) throws -> (TLSSession, TLSSession) {
        func session(_ role: TLSRole) throws -> TLSSession {
            let context = try TLSContext(
                identity: TLSIdentity(key: SigningKey()), role: role, protocols: [TLSContext.streamProtocol],
                bytesPerKey: bytesPerKey)
            return try TLSSession(context: context) { _ in true }
        }
        let client = try session(.client)
        let server = try session(.server)
        var toServer = try #require(client.start())
        while !toServer.isEmpty {
            server.receive(toServer)
            _ = server.step()
            let toClient = server.takeCiphertext()
            if !toClient.isEmpty {
                client.receive(toClient)
                _ = client.step()
            }
            toServer = client.takeCiphertext()
        }
        try #require(client.isOpen && server.isOpen)
        return (client, server)
    }

    // MARK: Sending

    /// Encrypts and sends bytes.
    func send(_ bytes: [UInt8], _ sourceLocation: SourceLocation = #_sourceLocation) throws {
        try session.write(bytes)
        try flush(sourceLocation)
    }

    func send(_ word: StreamWord, _ data: [UInt8] = [], _ sourceLocation: SourceLocation = #_sourceLocation) throws {
        try send(Self.frame(word, data), sourceLocation)
    }

    /// Sends data in one frame.
    func send(data: [UInt8], _ sourceLocation: SourceLocation = #_sourceLocation) throws {
        try send(.data(data.count), data, sourceLocation)
    }

    /// Ends the TLS direction (close_notify).
    func close() throws {
        session.close()
        try flush()
    }

    static func frame(_ word: StreamWord, _ data: [UInt8] = []) -> [UInt8] {
        bytes(word.word) + data
    }

    static func bytes(_ word: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: word >> ($0 as UInt32)) }
    }

    private func flush(_ sourceLocation: SourceLocation = #_sourceLocation) throws {
        try socket.write(session.takeCiphertext(), sourceLocation)
    }

    // MARK: Receiving

    /// Returns exactly this many plaintext bytes.
    func read(_ count: Int, _ sourceLocation: SourceLocation = #_sourceLocation) throws -> [UInt8] {
        while plaintext.count - start < count, end == nil { try receive(sourceLocation) }
        try #require(plaintext.count - start >= count, "it has ended", sourceLocation: sourceLocation)
        defer { start += count }
        return Array(plaintext[start..<start + count])
    }

    /// Returns the next word.
    func word(_ sourceLocation: SourceLocation = #_sourceLocation) throws -> StreamWord? {
        StreamWord(try read(4, sourceLocation).reduce(UInt32(0)) { $0 << 8 | UInt32($1) })
    }

    /// Returns this many bytes of data, from frames of any size.
    func data(_ count: Int, _ sourceLocation: SourceLocation = #_sourceLocation) throws -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count {
            guard case .data(let size)? = try word(sourceLocation) else {
                Issue.record("no data", sourceLocation: sourceLocation)
                return bytes
            }
            bytes += try read(size, sourceLocation)
        }
        return bytes
    }

    /// Returns the kind of end. No bytes may precede it.
    func ending(_ sourceLocation: SourceLocation = #_sourceLocation) throws -> End {
        while plaintext.count == start, end == nil { try receive(sourceLocation) }
        #expect(plaintext.count == start, sourceLocation: sourceLocation)
        return end ?? .cut
    }

    private func receive(_ sourceLocation: SourceLocation) throws {
        if start > 1 << 20 {
            plaintext.removeFirst(start)
            start = 0
        }
        do {
            let bytes = try socket.readSome(1 << 18, sourceLocation)
            if bytes.isEmpty { end = .cut }
            session.receive(bytes)
        } catch is Errno {
            end = .cut
        }
        while true {
            switch try session.read() {
            case .bytes(let bytes): plaintext += bytes
            case .wouldBlock: return
            case .closed:
                end = .closed
                return
            }
        }
    }
}
