package import HandoffJSON
package import LoopIO

/// A connection after an upgrade: bytes both ways, and no messages any more.
package final class RawStream {
    /// Room that is made before anything is collected: more than an account file has.
    private static let usualSize = 65_536

    /// The results of the call that was answered last.
    package let reply: JSONObject
    /// The connection, for those who read it bit by bit.
    let stream: ByteStream
    private let path: String
    private let received = SecretBuffer()

    /// - Parameter first: what came together with the last reply.
    init(_ stream: ByteStream, reply: JSONObject, received first: [UInt8], path: String) {
        self.stream = stream
        self.reply = reply
        self.path = path
        received.reserve(Self.usualSize)
        received.append(first)
    }

    /// What came together with the last reply.
    package var first: [UInt8] { received.bytes }

    /// Gives the connection up without closing it, to somebody who reads and writes it without a loop. What came already is in
    /// `first`.
    /// - Returns: nil when it is closed, or has failed.
    package func detach() -> Descriptor? { stream.detach() }

    /// Sends bytes; with `end` also the end of what we send.
    package func send(_ bytes: [UInt8], end: Bool) {
        stream.write(bytes)
        if end { stream.shutdownWrite() }
    }

    /// Collects what comes until the other side ends it, and closes. Keeps itself alive until then.
    /// - Parameters:
    ///   - limit: the most bytes that are collected; more is a failure.
    ///   - then: gets all bytes; those that came before a broken connection too.
    package func collect(limit: Int, _ then: @escaping (Result<SecretBuffer, ClientError>) -> Void) {
        stream.onEnd = { [self] in
            stream.close()
            then(.success(received))
        }
        stream.onError = { [self] _ in
            then(received.bytes.isEmpty ? .failure(.lost(path: path)) : .success(received))
        }
        stream.onRead = { [self] bytes in
            received.append(bytes)
            guard received.bytes.count > limit else { return }
            stream.close()
            then(.failure(.badAnswer("more than \(limit) bytes")))
        }
    }
}

/// Bytes of a secret, overwritten when nobody holds them any more. It is a class so that passing it on makes no copies.
package final class SecretBuffer {
    /// The bytes; a copy that is kept elsewhere is not overwritten.
    package private(set) var bytes: [UInt8]

    /// Takes over bytes that the caller has no further use for.
    package init(_ bytes: consuming [UInt8] = []) {
        self.bytes = bytes
    }

    deinit {
        SecretWipe.wipe(&bytes)
    }

    /// Makes room once, so that growing leaves no copies behind.
    func reserve(_ count: Int) {
        bytes.reserveCapacity(count)
    }

    func append(_ more: [UInt8]) {
        bytes += more
    }
}
