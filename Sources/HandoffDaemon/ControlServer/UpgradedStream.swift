import HandoffStreams
package import LoopIO

/// The user of a control connection after an upgrade. On the daemon's loop.
package protocol UpgradedStreamDelegate: AnyObject {
    /// Called when bytes have arrived. They are treated as secret: valid only during the call, then
    /// wiped.
    func received(_ bytes: Span<UInt8>)
    /// Called when the client writes no more. It may still read. Detected only while reading.
    func receivedEnd()
    /// Called when the connection was lost. No other call follows.
    func lost(_ error: Errno)
    /// Called when the kernel has accepted the last waiting byte.
    func flushed()
}

/// A control connection after an upgrade: raw bytes in both directions. On the daemon's loop only.
///
/// It lives until it is closed, even without other references, and retains its delegate until then.
package final class UpgradedStream {
    private let stream: ByteStream
    /// The original connection, which is notified of the end; nil afterwards.
    private weak var connection: ControlConnection?
    private var delegate: (any UpgradedStreamDelegate)?
    /// Receives the socket once all written bytes have been sent.
    private var detaching: ((HandedDescriptor?) -> Void)?
    private var isOver = false

    /// Reports an end that preceded the upgrade, after the new owner has set its delegate.
    private var endTimer: LoopTimer?

    /// Takes ownership of the stream of a connection.
    ///
    /// - Parameter hasEnded: whether the client has already stopped writing.
    init(_ stream: ByteStream, of connection: ControlConnection, on loop: EventLoop, hasEnded: Bool) {
        self.stream = stream
        self.connection = connection
        if hasEnded {
            endTimer = loop.timer(after: .zero) { [weak self] in self?.delegate?.receivedEnd() }
        }
        stream.onRead = nil
        stream.onEnd = { [weak self] in self?.delegate?.receivedEnd() }
        stream.onDrained = nil
        stream.onFlushed = { [weak self] in self?.flushed() }
        stream.onError = { [weak self] in self?.failed($0) }
    }

    /// Starts reading and calling the delegate.
    package func start(_ delegate: any UpgradedStreamDelegate) {
        guard !isOver else { return }
        self.delegate = delegate
        stream.onReadSecret = { [weak self] in self?.delegate?.received($0) }
    }

    /// Stops reading because no more data is needed. The client's end is no longer detected.
    package func stopReading() {
        guard !isOver else { return }
        stream.onReadSecret = nil
    }

    /// True if bytes can still be written.
    package var isOpen: Bool {
        !isOver && stream.isOpen
    }

    /// Number of written bytes that the kernel has not accepted yet.
    package var pendingBytes: Int { stream.pendingWriteBytes }

    /// Sends bytes in order. They are dropped once the stream has ended.
    package func write(_ bytes: [UInt8]) {
        stream.write(bytes)
    }

    /// Sends waiting bytes and then the end. Closes when the client has also ended, within five
    /// seconds.
    package func end() {
        guard !isOver else { return }
        stream.finish()
        release()
    }

    /// Closes immediately. Waiting bytes are lost.
    package func close() {
        guard !isOver else { return }
        stream.close()
        release()
    }

    /// Releases the socket once all written bytes have been sent, for a loop on another thread.
    /// Only the completion is called after this, with nil if the client has disconnected.
    func detach(_ completion: @escaping (HandedDescriptor?) -> Void) {
        guard isOpen else { return completion(nil) }
        stopReading()
        guard stream.pendingWriteBytes == 0 else { return detaching = completion }
        let descriptor = stream.detach()
        release()
        if let descriptor { completion(HandedDescriptor(descriptor, passer: stream.passer)) } else { completion(nil) }
    }

    private func flushed() {
        if let detaching { detach(detaching) } else { delegate?.flushed() }
    }

    private func failed(_ error: Errno) {
        let (delegate, detaching) = (self.delegate, self.detaching)
        release()
        if let detaching { detaching(nil) } else { delegate?.lost(error) }
    }

    private func release() {
        isOver = true
        endTimer = nil
        delegate = nil
        detaching = nil
        let former = connection
        connection = nil
        former?.upgradedStreamEnded()
    }
}
