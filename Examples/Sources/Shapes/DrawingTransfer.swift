import Foundation

/// The two directions of a continuation stream, on their way to the thread that uses them.
///
/// Unchecked Sendable: the creator gives up the streams and does not use them again.
struct StreamPair: @unchecked Sendable {
    let input: InputStream
    let output: OutputStream
}

/// Transfers drawings over continuation streams with their events. Each transfer has a thread with
/// its own run loop, so that neither the main queue nor the thread pool of asynchronous code waits
/// for another device.
enum DrawingTransfer {
    /// The maximum number of bytes transferred per event.
    private static let piece = 65_536

    /// Sends a drawing.
    /// - Parameter done: called on the thread with nil or the error.
    static func send(_ drawing: Drawing, over streams: StreamPair, done: @escaping @Sendable (String?) -> Void) {
        Thread.detachNewThread {
            let sender = Sender(DrawingFrame.bytes(drawing), streams)
            sender.run()
            done(sender.problem)
        }
    }

    /// Receives a drawing.
    /// - Throws: `DrawingFrame.Problem`.
    static func receive(over streams: StreamPair) async throws -> Drawing {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                let receiver = Receiver(streams)
                receiver.run()
                continuation.resume(with: Result { try receiver.result() })
            }
        }
    }

    /// A stream that is used by its events on the run loop of the current thread, until it ends.
    private class Mover: NSObject, StreamDelegate {
        let streams: StreamPair
        private let watched: Stream
        private(set) var isOver = false
        private(set) var problem: String?

        /// - Parameter watched: the direction whose events are used.
        init(_ streams: StreamPair, watching watched: Stream) {
            self.streams = streams
            self.watched = watched
        }

        func run() {
            watched.delegate = self
            watched.schedule(in: .current, forMode: .default)
            streams.input.open()
            streams.output.open()
            while !isOver, RunLoop.current.run(mode: .default, before: .distantFuture) {}
            streams.output.close()
            streams.input.close()
        }

        func end(_ problem: String? = nil) {
            isOver = true
            self.problem = problem
            // Without sources, the run loop ends.
            watched.remove(from: .current, forMode: .default)
        }

        func fail() { end(watched.streamError?.localizedDescription ?? "it was closed") }

        /// Called when the direction is ready. Override point.
        func move() {}

        func stream(_ stream: Stream, handle event: Stream.Event) {
            switch event {
            case .hasBytesAvailable, .hasSpaceAvailable: move()
            case .endEncountered: end()
            case .errorOccurred: fail()
            default: break
            }
        }
    }

    private final class Sender: Mover {
        private var rest: ArraySlice<UInt8>

        init(_ bytes: [UInt8], _ streams: StreamPair) {
            rest = bytes[...]
            super.init(streams, watching: streams.output)
        }

        override func move() {
            let count = rest.prefix(DrawingTransfer.piece).withUnsafeBufferPointer { piece in
                piece.baseAddress.map { streams.output.write($0, maxLength: piece.count) } ?? 0
            }
            guard count >= 0 else { return fail() }
            rest = rest.dropFirst(count)
            if rest.isEmpty { end() }
        }
    }

    private final class Receiver: Mover {
        private var reader = DrawingFrame.Reader()
        private var refusal: DrawingFrame.Problem?
        private var buffer = [UInt8](repeating: 0, count: DrawingTransfer.piece)

        init(_ streams: StreamPair) {
            super.init(streams, watching: streams.input)
        }

        override func move() {
            let count = streams.input.read(&buffer, maxLength: buffer.count)
            guard count >= 0 else { return fail() }
            do throws(DrawingFrame.Problem) {
                try reader.received(buffer[..<count])
            } catch {
                refusal = error
                end()
            }
            if reader.isComplete || count == 0 { end() }
        }

        func result() throws(DrawingFrame.Problem) -> Drawing {
            if let refusal { throw refusal }
            if let problem { throw .stream(problem) }
            return try reader.drawing()
        }
    }
}
