public import Foundation
import LoopIO

/// A continuation stream for asynchronous code: the bytes of the other app as a sequence, and
/// asynchronous writes. Releasing it closes the stream.
///
/// At most one task may read and one may write at a time. The sequence ends when the other app has
/// ended its direction or the connection was lost. An app that must distinguish these cases sends
/// the length of its data first.
public final class HandoffByteStream: AsyncSequence, Sendable {
    /// One or more bytes.
    public typealias Element = Data

    /// The maximum number of bytes per element.
    private static let chunk = 65_536

    private let socket: StreamSocket

    init(_ socket: StreamSocket) {
        self.socket = socket
    }

    /// Creates a byte stream from an input stream that was passed to a delegate. Its output stream
    /// belongs to the same stream. Do not use either of them afterwards.
    /// - Returns: nil for an input stream of another class.
    public convenience init?(_ inputStream: InputStream) {
        guard let stream = inputStream as? HandoffInputStream else { return nil }
        self.init(stream.socket)
    }

    /// An iterator that reads the stream.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let stream: HandoffByteStream

        /// Returns the next bytes; nil at the end.
        /// - Throws: `CancellationError`, or an error in `NSPOSIXErrorDomain` if the connection has
        ///   failed.
        public mutating func next() async throws -> Data? {
            try await stream.read()
        }
    }

    /// Creates an iterator. It continues where the last reader stopped.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(stream: self) }

    /// Reads available bytes, waiting until there are some.
    /// - Returns: nil at the end.
    /// - Throws: `CancellationError`, or an error in `NSPOSIXErrorDomain` if the connection has
    ///   failed.
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

    /// Writes all bytes, waiting for buffer space as needed.
    /// - Throws: `CancellationError`, after which an unknown number of bytes has been sent; or an
    ///   error in `NSPOSIXErrorDomain` if the other app no longer reads.
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

    /// Ends the outgoing direction: the other app reads an end of stream after the written bytes.
    /// Reading continues to work.
    public func finishWriting() { socket.closeOutput() }

    /// Closes both directions.
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

/// A suspended task, which is resumed by the first of several events.
private final class Turn: Sendable {
    private enum State {
        /// The task has not been suspended yet.
        case early
        case waiting(CheckedContinuation<Void, any Error>)
        /// The task was resumed, or is to resume with this result.
        case over(Result<Void, any Error>)
    }

    private let state = Locked(State.early)

    func set(_ continuation: CheckedContinuation<Void, any Error>) {
        let early: Result<Void, any Error>? = state.withLock { state in
            if case .over(let result) = state { return result }
            state = .waiting(continuation)
            return nil
        }
        if let early { continuation.resume(with: early) }
    }

    /// Resumes the task. Does nothing the second time.
    func end(_ result: Result<Void, any Error>) {
        let continuation: CheckedContinuation<Void, any Error>? = state.withLock { state in
            defer { if case .over = state {} else { state = .over(result) } }
            if case .waiting(let continuation) = state { return continuation }
            return nil
        }
        continuation?.resume(with: result)
    }
}
