import LoopIO

/// A connection after an upgrade: bytes both ways, and no messages any more.
package final class RawStream {
    private let stream: ByteStream
    private let path: String
    private var received: [UInt8]

    /// - Parameter received: what came together with the last reply.
    init(_ stream: ByteStream, received: [UInt8], path: String) {
        self.stream = stream
        self.received = received
        self.path = path
    }

    deinit {
        SecretWipe.wipe(&received)
    }

    /// Sends bytes; with `end` also the end of what we send.
    package func send(_ bytes: [UInt8], end: Bool) {
        stream.write(bytes)
        if end { stream.shutdownWrite() }
    }

    /// Collects what comes until the other side ends it, and closes. Keeps itself alive until then.
    /// - Parameters:
    ///   - limit: the most bytes that are collected; more is a failure.
    ///   - then: gets all bytes; those that came before a broken connection too.
    package func collect(limit: Int, _ then: @escaping (Result<[UInt8], ClientError>) -> Void) {
        stream.onEnd = { [self] in finish(then) }
        stream.onError = { [self] _ in
            if received.isEmpty { then(.failure(.lost(path: path))) } else { finish(then) }
        }
        stream.onRead = { [self] bytes in
            received += bytes
            guard received.count > limit else { return }
            stream.close()
            then(.failure(.badAnswer("more than \(limit) bytes")))
        }
    }

    private func finish(_ then: (Result<[UInt8], ClientError>) -> Void) {
        let all = received
        stream.close()
        then(.success(all))
    }
}
