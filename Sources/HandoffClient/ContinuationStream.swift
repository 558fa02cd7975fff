package import HandoffControl
package import HandoffModel
package import LoopIO

/// A stream between the two apps of a continuation, on the connection that `OpenStream` has turned into it. Bytes go both
/// ways at the pace of the slower side; each direction ends by itself.
///
/// Lives on the loop's thread. Set the handlers right after it was opened: it reads only while `onRead` is set. Letting go of
/// it closes it. `onEnd` says only that no byte comes any more, which a connection between the devices that was cut looks like,
/// too: how it really ended, `awaitEnd` tells.
package final class ContinuationStream {
    /// Its name on the sockets of this device.
    package let id: StreamID
    /// Bytes have come, never none.
    package var onRead: (([UInt8]) -> Void)? {
        didSet { updateReading() }
    }
    /// No byte comes any more; called once, and only while `onRead` is set.
    package var onEnd: (() -> Void)? {
        get { stream.onEnd }
        set { stream.onEnd = newValue }
    }
    /// The connection to the daemon has failed, and the stream is closed; called once.
    package var onError: ((Errno) -> Void)? {
        get { stream.onError }
        set { stream.onError = newValue }
    }
    /// `write` returned false, and now there is room again.
    package var onDrained: (() -> Void)? {
        get { stream.onDrained }
        set { stream.onDrained = newValue }
    }

    private let path: String
    private let loop: EventLoop
    private let stream: ByteStream
    /// What came together with the reply, until it was handed over.
    private var first: [UInt8]
    private var isPaused = false
    private var isDue = false
    private var isFinishing = false
    /// The connections of calls about this stream that are open.
    private var calls: [ControlClient] = []

    init(_ raw: RawStream, _ id: StreamID, path: String, loop: EventLoop) {
        self.id = id
        self.path = path
        self.loop = loop
        stream = raw.stream
        first = raw.first
        // The client that was upgraded must hear nothing any more.
        stream.onRead = nil
        stream.onEnd = nil
        stream.onError = nil
    }

    deinit {
        // A stream that finishes keeps itself alive.
        if !isFinishing { close() }
    }

    // MARK: - Bytes

    /// Sends bytes.
    /// - Returns: false when many wait; write on after `onDrained`.
    @discardableResult
    package func write(_ bytes: [UInt8]) -> Bool { stream.write(bytes) }

    /// Sends the end of our direction, behind what was written. Bytes still come.
    package func endWriting() { stream.shutdownWrite() }

    /// Reads nothing for now; the other app is slowed down.
    package func pauseReading() {
        isPaused = true
        stream.pauseReading()
    }

    /// Reads again.
    package func resumeReading() {
        isPaused = false
        stream.resumeReading()
        updateReading()
    }

    /// Sends what was written and the end of our direction, waits until the other app has ended its own, and closes. No handler
    /// is called any more, and the owner may let go of the stream.
    /// - Parameter deadline: when it is closed whatever the other app does.
    package func finish(within deadline: Duration = .seconds(5)) {
        dropHandlers()
        isFinishing = true
        stream.finish(within: deadline)
    }

    /// Closes the stream at once, and the calls about it; unless both directions have ended, the other app is told that it was
    /// closed. No handler is called any more.
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

    // MARK: - Calls about it

    /// `PassFile`, on a connection of its own: the daemon moves a part of a direction from or to a file.
    /// - Parameters:
    ///   - direction: ours (`send`) or the other app's (`receive`).
    ///   - position: bytes of that direction before those of the file.
    ///   - length: bytes of the file; nil for all that come.
    ///   - number: the file's descriptor; it is read or written from where it stands. It stays its owner's, and is needed for
    ///     the time of this call only.
    ///   - each: gets how far it is, a few times a second, and then the last reply or a failure.
    package func passFile(
        _ direction: PassFileRequest.Direction, position: Int, length: Int?, descriptor number: Int32,
        _ each: @escaping (Result<PassFileReply, ClientError>) -> Void
    ) {
        let request = PassFileRequest(stream: id, direction: direction, position: position, length: length)
        do throws(ClientError) {
            let client = try connect()
            client.passFile(request, descriptor: number) { [weak self, weak client] result, isLast in
                // Dropped before the handler, which may close everything.
                if isLast, let client { self?.calls.removeAll { $0 === client } }
                if case .success(let reply) = result, let length, reply.moved > length {
                    // Nobody computes with it.
                    client?.close()
                    self?.calls.removeAll { $0 === client }
                    return each(.failure(.badAnswer("it has moved \(reply.moved) bytes of \(length)")))
                }
                each(result)
            }
        } catch {
            loop.later { each(.failure(error)) }
        }
    }

    /// `AwaitStream`, on a connection of its own: tells how the stream ended, once it is over.
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
        // Never from inside the assignment of a handler.
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
