public import Foundation
import LoopIO

/// A continuation stream for asynchronous code: the bytes of the other app as a sequence, and asynchronous writes. It is closed
/// when it is let go.
///
/// One task reads and one writes at a time. The sequence ends when the other app has ended its direction, or the connection was
/// cut: an app that must tell these apart sends how much it is going to send.
public final class HandoffByteStream: AsyncSequence, Sendable {
    /// Some bytes, never none.
    public typealias Element = Data

    /// The most bytes of one element.
    private static let chunk = 65_536

    private let socket: StreamSocket

    init(_ socket: StreamSocket) {
        self.socket = socket
    }

    /// The stream of an input stream that a delegate got; its output stream is of the same stream. Neither of the two should be
    /// used any more.
    /// - Returns: nil for an input stream of another kind.
    public convenience init?(_ inputStream: InputStream) {
        guard let stream = inputStream as? HandoffInputStream else { return nil }
        self.init(stream.socket)
    }

    /// Reads the stream.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let stream: HandoffByteStream

        /// The next bytes; nil at the end.
        /// - Throws: `CancellationError`, or an error of `NSPOSIXErrorDomain` when the connection has failed.
        public mutating func next() async throws -> Data? {
            try await stream.read()
        }
    }

    /// Reads from where the last reader stopped.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(stream: self) }

    /// Reads some bytes.
    /// - Returns: nil at the end.
    /// - Throws: `CancellationError`, or an error of `NSPOSIXErrorDomain` when the connection has failed.
    public func read() async throws -> Data? {
        var buffer = [UInt8](repeating: 0, count: Self.chunk)
        while true {
            switch buffer.withUnsafeMutableBytes({ socket.read(into: $0) }) {
            case .moved(let count): return Data(buffer[..<count])
            case .ended: return nil
            case .failed(let error): throw Self.error(error)
            case .wouldBlock: try await ready(.reading)
            }
        }
    }

    /// Writes all bytes, and waits for room where there is none.
    /// - Throws: `CancellationError`, after which an unknown number of the bytes was sent, or an error of `NSPOSIXErrorDomain` when
    ///   the other app takes no more.
    public func write(_ data: Data) async throws {
        var rest = Array(data)[...]
        while !rest.isEmpty {
            switch rest.withUnsafeBytes({ socket.write($0) }) {
            case .moved(let count): rest = rest.dropFirst(count)
            case .ended: throw Self.error(.brokenPipe)
            case .failed(let error): throw Self.error(error)
            case .wouldBlock: try await ready(.writing)
            }
        }
    }

    /// Ends our direction: the other app reads an end behind what was written. Bytes still come.
    public func finishWriting() { socket.closeOutput() }

    /// Ends both directions.
    public func close() { socket.close() }

    private func ready(_ direction: SocketCore.Direction) async throws {
        let turn = Turn()
        let waiter = StreamWaiter { turn.end(.success(())) }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                turn.set(continuation)
                socket.whenReady(direction, waiter)
            }
        } onCancel: {
            turn.end(.failure(CancellationError()))
            waiter.cancel()
            socket.removeCancelled()
        }
    }

    private static func error(_ error: Errno) -> NSError {
        NSError(
            domain: NSPOSIXErrorDomain, code: Int(error.rawValue),
            userInfo: [NSLocalizedDescriptionKey: "the continuation stream has failed: \(error)"])
    }
}

/// A task that waits, until the first of several reasons to go on.
private final class Turn: Sendable {
    private enum State {
        /// The state before the task waits.
        case early
        /// The state while it waits.
        case waiting(CheckedContinuation<Void, any Error>)
        /// The state once it goes on; before it waited: with this.
        case over(Result<Void, any Error>)
    }

    private let state = Locked(State.early)

    /// The task waits.
    func set(_ continuation: CheckedContinuation<Void, any Error>) {
        let early: Result<Void, any Error>? = state.withLock { state in
            if case .over(let result) = state { return result }
            state = .waiting(continuation)
            return nil
        }
        if let early { continuation.resume(with: early) }
    }

    /// It goes on; nothing the second time.
    func end(_ result: Result<Void, any Error>) {
        let continuation: CheckedContinuation<Void, any Error>? = state.withLock { state in
            defer { if case .over = state {} else { state = .over(result) } }
            if case .waiting(let continuation) = state { return continuation }
            return nil
        }
        continuation?.resume(with: result)
    }
}
