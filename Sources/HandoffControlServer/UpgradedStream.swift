package import HandoffStreams
package import LoopIO

/// Who uses a control connection after an upgrade. On the daemon's loop.
package protocol UpgradedStreamDelegate: AnyObject {
    /// Bytes have arrived. They count as secret: they are lent for the time of the call, and overwritten.
    func received(_ bytes: Span<UInt8>)
    /// The client writes no more; it may still read. Noticed only while bytes are read.
    func receivedEnd()
    /// The connection broke; nothing is said after it.
    func lost(_ error: Errno)
    /// The kernel has taken the last byte that had to wait.
    func flushed()
}

/// A control connection after an upgrade: raw bytes both ways. On the daemon's loop only.
///
/// It lives until it is closed, whether or not anybody else holds it, and keeps its delegate until then.
package final class UpgradedStream {
    private let stream: ByteStream
    /// The connection that it was, which is told of its end; nil after that.
    private weak var connection: ControlConnection?
    private var delegate: (any UpgradedStreamDelegate)?
    /// Gets the socket once what was written has left.
    private var detaching: ((HandedDescriptor?) -> Void)?
    private var isOver = false

    /// Reports an end that came before the upgrade, once the new owner has set its delegate.
    private var endTimer: LoopTimer?

    /// Takes over the stream of a connection.
    ///
    /// - Parameter hasEnded: whether the client writes no more already.
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

    /// Begins to read, and to tell what happens.
    package func start(_ delegate: any UpgradedStreamDelegate) {
        guard !isOver else { return }
        self.delegate = delegate
        stream.onReadSecret = { [weak self] in self?.delegate?.received($0) }
    }

    /// Reads no more: nothing else is to come. An end of the client is not noticed any more.
    package func stopReading() {
        guard !isOver else { return }
        stream.onReadSecret = nil
    }

    /// Whether bytes can still be written.
    package var isOpen: Bool {
        !isOver && stream.isOpen
    }

    /// Bytes that were written and that the kernel has not taken yet.
    package var pendingBytes: Int { stream.pendingWriteBytes }

    /// Sends bytes in order; dropped once the stream has ended.
    package func write(_ bytes: [UInt8]) {
        stream.write(bytes)
    }

    /// Sends what waits and then the end, and closes once the client has ended too, within five seconds.
    package func end() {
        guard !isOver else { return }
        stream.finish()
        release()
    }

    /// Closes at once; what waits is lost.
    package func close() {
        guard !isOver else { return }
        stream.close()
        release()
    }

    /// Gives the socket away once what was written has left, for a loop on another thread; nothing is told any more
    /// but the completion, with nil when the client is gone.
    package func detach(_ completion: @escaping (HandedDescriptor?) -> Void) {
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
