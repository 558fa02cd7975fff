package import HandoffStreams
package import LoopIO

/// A control connection after an upgrade: raw bytes both ways. On the daemon's loop only.
///
/// It lives until it is closed, whether or not anybody else holds it. After its end every handler is let go, so a
/// handler may capture the stream.
package final class UpgradedStream {
    /// Bytes that have arrived; they are read only while this is set.
    package var onBytes: (([UInt8]) -> Void)? {
        didSet {
            // At its end the stream reads on by itself, to throw away what still comes.
            guard onFinished != nil else { return }
            stream.onRead = onBytes
        }
    }
    /// Takes the place of `onBytes` for bytes that are secret: they are lent for the time of the call, and overwritten.
    package var onSecret: ((Span<UInt8>) -> Void)? {
        didSet {
            guard onFinished != nil else { return }
            stream.onReadSecret = onSecret
        }
    }
    /// The client writes no more; it may still read. Noticed only while bytes are read.
    package var onEnd: (() -> Void)?
    /// The connection broke; nothing is called after it.
    package var onLost: ((Errno) -> Void)?
    /// After `write` returned false: what waits has fallen to the low mark.
    package var onDrained: (() -> Void)?
    /// The kernel has taken the last byte that had to wait.
    package var onFlushed: (() -> Void)?

    private let stream: ByteStream
    /// Lets go of the stream; called once.
    private var onFinished: (() -> Void)?

    /// Reports an end that came before the upgrade, once the new owner has set its handlers.
    private var endTimer: LoopTimer?

    /// Takes over the stream of a connection.
    ///
    /// - Parameters:
    ///   - hasEnded: whether the client writes no more already.
    ///   - onFinished: called once, when the stream is of no more use.
    init(_ stream: ByteStream, on loop: EventLoop, hasEnded: Bool, onFinished: @escaping () -> Void) {
        self.stream = stream
        self.onFinished = onFinished
        if hasEnded {
            endTimer = loop.timer(after: .zero) { [weak self] in self?.onEnd?() }
        }
        stream.onRead = nil
        stream.onEnd = { [weak self] in self?.onEnd?() }
        stream.onDrained = { [weak self] in self?.onDrained?() }
        stream.onFlushed = { [weak self] in self?.onFlushed?() }
        stream.onError = { [weak self] error in
            let report = self?.onLost
            self?.release()
            report?(error)
        }
    }

    /// Whether bytes can still be written.
    package var isOpen: Bool {
        onFinished != nil && stream.isOpen
    }

    /// Bytes that were written and that the kernel has not taken yet.
    package var pendingBytes: Int { stream.pendingWriteBytes }

    /// Sends bytes in order; dropped once the stream has ended.
    /// - Returns: false when much waits already: write on after `onDrained`.
    @discardableResult
    package func write(_ bytes: [UInt8]) -> Bool {
        stream.write(bytes)
    }

    /// Sends what waits and then the end, and closes once the client has ended too, within five seconds.
    package func end() {
        guard onFinished != nil else { return }
        stream.finish()
        release()
    }

    /// Closes at once; what waits is lost.
    package func close() {
        guard onFinished != nil else { return }
        stream.close()
        release()
    }

    /// Gives the socket away once what was written has left, for a loop on another thread; nothing is called any more
    /// but the completion, with nil when the client is gone.
    package func detach(_ completion: @escaping (HandedDescriptor?) -> Void) {
        guard isOpen else { return completion(nil) }
        onBytes = nil
        guard stream.pendingWriteBytes == 0 else {
            onLost = { _ in completion(nil) }
            onFlushed = { [self] in detach(completion) }
            return
        }
        let descriptor = stream.detach()
        release()
        if let descriptor { completion(HandedDescriptor(descriptor, passer: stream.passer)) } else { completion(nil) }
    }

    private func release() {
        let finished = onFinished
        onFinished = nil
        endTimer = nil
        onBytes = nil
        onSecret = nil
        onEnd = nil
        onLost = nil
        onDrained = nil
        onFlushed = nil
        finished?()
    }
}
