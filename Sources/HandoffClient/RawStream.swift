package import HandoffJSON
package import LoopIO

/// A connection after an upgrade: bytes in both directions, without messages.
package final class RawStream {
    /// The capacity reserved before collecting, which exceeds the size of an account file.
    private static let usualSize = 65_536

    /// The parameters of the last reply.
    package let reply: JSONObject
    /// The connection, for incremental reading.
    let stream: ByteStream
    private let path: String
    private let received = SecretBuffer()

    /// - Parameter first: the bytes that arrived with the last reply.
    init(_ stream: ByteStream, reply: JSONObject, received first: [UInt8], path: String) {
        self.stream = stream
        self.reply = reply
        self.path = path
        received.reserve(Self.usualSize)
        received.append(first)
    }

    /// The bytes that arrived with the last reply.
    package var first: [UInt8] { received.bytes }

    /// Releases the connection without closing it, to a caller that uses it without a loop. The
    /// bytes that have already arrived are in `first`.
    /// - Returns: nil if the connection is closed or has failed.
    package func detach() -> Descriptor? { stream.detach() }

    /// Sends bytes and, if `end` is true, the end of the outgoing direction.
    func send(_ bytes: [UInt8], end: Bool) {
        stream.write(bytes)
        if end { stream.shutdownWrite() }
    }

    /// Collects incoming bytes until the other side ends, then closes. Retains itself until then.
    /// - Parameters:
    ///   - limit: the maximum number of bytes; more is a failure.
    ///   - then: receives all bytes, including those that arrived before a connection error.
    func collect(limit: Int, _ then: @escaping (Result<SecretBuffer, ClientError>) -> Void) {
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

/// The bytes of a secret, which are overwritten when the last reference is released. A class, so
/// that passing it on makes no copies.
package final class SecretBuffer {
    /// The bytes. A copy stored elsewhere is not overwritten.
    package private(set) var bytes: [UInt8]

    /// Creates a buffer from bytes that the caller no longer uses.
    package init(_ bytes: consuming [UInt8] = []) {
        self.bytes = bytes
    }

    deinit {
        SecretWipe.wipe(&bytes)
    }

    /// Reserves capacity once, so that growing leaves no copies behind.
    func reserve(_ count: Int) {
        bytes.reserveCapacity(count)
    }

    func append(_ more: [UInt8]) {
        bytes += more
    }
}
