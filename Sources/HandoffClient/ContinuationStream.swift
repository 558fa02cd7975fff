package import HandoffControl
package import HandoffModel
package import LoopIO

/// A stream between the two apps of a continuation, on the connection that `OpenStream` has
/// upgraded. Bytes flow in both directions at the speed of the slower side. Each direction ends
/// separately.
///
/// Used on the loop's thread. Set the handlers immediately after it was opened: it reads only while
/// `onRead` is set. Releasing it closes it. `onEnd` only means that no more bytes arrive, which is
/// also the case after a lost connection between the devices. `awaitEnd` reports how the stream
/// ended.
package final class ContinuationStream {
    /// The ID on the local sockets.
    package let id: StreamID
    /// Called with received bytes, at least one.
    package var onRead: (([UInt8]) -> Void)? {
        didSet { updateReading() }
    }
    /// Called once when no more bytes arrive, and only while `onRead` is set.
    package var onEnd: (() -> Void)? {
        get { stream.onEnd }
        set { stream.onEnd = newValue }
    }
    /// Called once when the connection to the daemon has failed and the stream is closed.
    package var onError: ((Errno) -> Void)? {
        get { stream.onError }
        set { stream.onError = newValue }
    }
    /// Called when there is space again after `write` returned false.
    package var onDrained: (() -> Void)? {
        get { stream.onDrained }
        set { stream.onDrained = newValue }
    }

    private let path: String
    private let loop: EventLoop
    private let stream: ByteStream
    /// The bytes that arrived with the reply, until they are delivered.
    private var first: [UInt8]
    private var isPaused = false
    private var isDue = false
    private var isFinishing = false
    /// The open connections for calls about this stream.
    private var calls: [ControlClient] = []

    init(_ raw: RawStream, _ id: StreamID, path: String, loop: EventLoop) {
        self.id = id
        self.path = path
        self.loop = loop
        stream = raw.stream
        first = raw.first
        // The upgraded client must receive no further callbacks.
        stream.onRead = nil
        stream.onEnd = nil
        stream.onError = nil
    }

    deinit {
        // A stream that finishes retains itself.
        if !isFinishing { close() }
    }

    // MARK: - Bytes

    /// Sends bytes.
    /// - Returns: false if the buffer is full; continue after `onDrained`.
    @discardableResult
    package func write(_ bytes: [UInt8]) -> Bool { stream.write(bytes) }

    /// Ends the outgoing direction after the written bytes. Reading continues to work.
    package func endWriting() { stream.shutdownWrite() }

    /// Pauses reading, which slows down the other app.
    package func pauseReading() {
        isPaused = true
        stream.pauseReading()
    }

    /// Resumes reading.
    package func resumeReading() {
        isPaused = false
        stream.resumeReading()
        updateReading()
    }

    /// Sends the written bytes and the end of the outgoing direction, waits until the other app has
    /// ended its direction, and closes. No handler is called any more, and the owner may release
    /// the stream.
    /// - Parameter deadline: the time after which the stream is closed in any case.
    package func finish(within deadline: Duration = .seconds(5)) {
        dropHandlers()
        isFinishing = true
        stream.finish(within: deadline)
    }

    /// Closes the stream immediately, with the calls about it. Unless both directions have ended,
    /// the other app is notified of the closing. No handler is called any more.
    package func close() {
        dropHandlers()
        stream.close()
    }

    private func dropHandlers() {
        onRead = nil
        onEnd = nil
        onError = nil
        onDrained = nil
        first = []
        for call in calls { call.close() }
        calls = []
    }

    // MARK: - Calls about the stream

    /// Calls `PassFile` on a separate connection: the daemon transfers part of a direction from or
    /// to a file.
    /// - Parameters:
    ///   - direction: the outgoing direction (`send`) or the incoming one (`receive`).
    ///   - position: the number of bytes in that direction before those of the file.
    ///   - length: the number of bytes of the file; nil for all that arrive.
    ///   - number: the file's descriptor, which is read or written at its current offset. The
    ///     caller keeps ownership; needed only during this call.
    ///   - each: receives the progress, a few times a second, and then the last reply or a failure.
    package func passFile(
        _ direction: PassFileRequest.Direction, position: Int, length: Int?, descriptor number: Int32,
        _ each: @escaping (Result<PassFileReply, ClientError>) -> Void
    ) {
        let request = PassFileRequest(stream: id, direction: direction, position: position, length: length)
        do throws(ClientError) {
            let client = try connect()
            client.passFile(request, descriptor: number) { [weak self, weak client] result, isLast in
                // Removed before the handler is called, which may close everything.
                if isLast, let client { self?.calls.removeAll { $0 === client } }
                if case .success(let reply) = result, let length, reply.moved > length {
                    // Do not calculate with an impossible value.
                    client?.close()
                    self?.calls.removeAll { $0 === client }
                    return each(.failure(.badAnswer("moved \(reply.moved) bytes of \(length)")))
                }
                each(result)
            }
        } catch {
            loop.later { each(.failure(error)) }
        }
    }

    /// Calls `AwaitStream` on a separate connection. Reports how the stream ended, after it has
    /// ended.
    package func awaitEnd(_ then: @escaping (Result<AwaitStreamReply, ClientError>) -> Void) {
        do throws(ClientError) {
            let client = try connect()
            client.awaitStream(id) { [weak self, weak client] result in
                if let client { self?.calls.removeAll { $0 === client } }
                then(result)
            }
        } catch {
            loop.later { then(.failure(error)) }
        }
    }

    private func connect() throws(ClientError) -> ControlClient {
        let client = try ControlClient(path: path, loop: loop)
        calls.append(client)
        return client
    }

    // MARK: - Reading

    private func updateReading() {
        guard !first.isEmpty else {
            stream.onRead = onRead
            return
        }
        guard onRead != nil, !isPaused, !isDue else { return }
        isDue = true
        // Deferred, so that a handler is never called while it is being set.
        loop.later { [weak self] in self?.handOverFirst() }
    }

    private func handOverFirst() {
        isDue = false
        guard let onRead, !isPaused, !first.isEmpty else { return }
        let bytes = first
        first = []
        onRead(bytes)
        updateReading()
    }
}
