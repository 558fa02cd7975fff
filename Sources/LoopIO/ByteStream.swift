import CLinux

/// A connected stream socket or pipe on an event loop. Received bytes are delivered in order;
/// written bytes are sent immediately or queued.
///
/// Use it on the loop's thread only. Set the handlers right after creating the stream; bytes are
/// read only while `onRead` or `onReadSecret` is set. After `onEnd` the stream is still writable;
/// after `onError` it is closed. Every handler may close the stream.
///
/// The watched events are derived from the stream's state after each step. A descriptor that
/// reports a hang-up is therefore either read to its end or not watched at all.
package final class ByteStream {
    /// Queue sizes for pausing and resuming a writer.
    package typealias Marks = WriteQueue.Marks

    private enum Reading {
        /// Bytes are read and delivered.
        case flowing
        /// Between `pauseReading` and `resumeReading`.
        case paused
        /// The peer has sent its last byte.
        case ended
    }

    private enum Writing {
        /// `write` is allowed.
        case open
        /// `shutdownWrite` was called and the queue is not empty yet.
        case finishing
        /// The end of our stream was sent.
        case shut
        /// The peer accepts no more bytes. Bytes it sent before are still read.
        case failed(Errno)
    }

    /// The maximum number of bytes read from one stream per turn of the loop.
    private static let readBudget = 2 * EventLoop.scratchSize
    /// The maximum number of received bytes delivered after a failed write. Exceeds a receive
    /// buffer.
    private static let lastReadBudget = 8 * 1024 * 1024

    /// Called with received bytes, never with an empty array.
    package var onRead: (([UInt8]) -> Void)? {
        didSet { updateInterest() }
    }
    /// Replaces `onRead` for secret bytes. They are valid only during the call, and neither this
    /// stream nor the loop keeps a copy.
    package var onReadSecret: ((Span<UInt8>) -> Void)? {
        didSet { updateInterest() }
    }
    /// Called with descriptors that a unix socket's peer has passed (SCM_RIGHTS), in order, right
    /// before the bytes they were sent with. Those bytes may start with bytes sent earlier.
    ///
    /// The array is empty if descriptors were passed but this process has too many open files to
    /// accept all of them. While the handler is nil, the kernel closes passed descriptors, which
    /// may block: set it wherever the peer is not trusted.
    package var onPassed: (([PassedFile]) -> Void)?
    /// Called if descriptors were passed while too many descriptors from `passer` are waiting to be
    /// closed (`DescriptorCloser`). Nothing more can be read, and reading is paused. Writing still
    /// works. Without a handler the connection fails.
    package var onTooManyPassed: (() -> Void)?
    /// The source of passed descriptors.
    package var passer = DescriptorSource.unnamed
    /// Called once when the peer has finished writing (read(2) returned 0).
    package var onEnd: (() -> Void)?
    /// Called once when the connection has failed. The stream is closed, and no handler is called
    /// afterwards.
    package var onError: ((Errno) -> Void)?
    /// Called when the queue has fallen to the low mark after exceeding the high mark.
    package var onDrained: (() -> Void)?
    /// Called when the kernel has accepted the last queued byte.
    package var onFlushed: (() -> Void)?

    private let loop: EventLoop
    private var descriptor: StreamDescriptor?
    private var source: EventSource?
    private var reading = Reading.flowing
    private var writing = Writing.open
    private var queue: WriteQueue
    /// A failed write will be reported in a later turn: no handler is called from inside `write`.
    private var isFailureDue = false
    /// Set by `finish`. Keeps the stream alive until the peer has everything or the timer fires.
    private var lingering: (stream: ByteStream, timer: LoopTimer)?

    /// Takes ownership of a connected socket or of one end of a pipe, and makes it non-blocking.
    package init(_ descriptor: consuming Descriptor, on loop: EventLoop, marks: Marks = Marks()) throws(Errno) {
        let raw = descriptor.raw
        self.loop = loop
        queue = WriteQueue(marks: marks)
        self.descriptor = try StreamDescriptor(descriptor)
        source = try loop.watch(raw, []) { [weak self] events in self?.handle(events) }
    }

    deinit {
        source?.cancel()
        closeDescriptor()
    }

    private func closeDescriptor() {
        if let descriptor = descriptor.take() { LocalSocket.close(descriptor.release(), from: passer) }
    }

    // MARK: State

    /// True if the stream is neither closed nor failed.
    package var isOpen: Bool { descriptor != nil }

    /// The number of bytes that were written but not yet accepted by the kernel.
    package var pendingWriteBytes: Int { queue.count }

    /// The descriptor's number while the stream is open, for socket options and credentials. The
    /// stream owns it.
    package var rawDescriptor: Int32? {
        descriptor?.raw
    }

    // MARK: Reading

    /// Stops reading. The peer is throttled when the kernel's buffers are full.
    package func pauseReading() {
        guard case .flowing = reading else { return }
        reading = .paused
        updateInterest()
    }

    /// Resumes reading after `pauseReading`.
    package func resumeReading() {
        guard case .paused = reading else { return }
        reading = .flowing
        if case .failed = writing { scheduleFailure() }
        updateInterest()
    }

    // MARK: Writing

    /// Sends bytes in order, immediately as far as the kernel accepts them, and queues the rest.
    ///
    /// After a failure or `shutdownWrite` the bytes are dropped. Failures are reported to
    /// `onError`.
    /// - Returns: false if the queue is above the high mark; then wait for `onDrained` before
    ///   writing more.
    @discardableResult
    package func write(_ bytes: [UInt8]) -> Bool {
        loop.assertOwned()
        guard isOpen, case .open = writing else { return true }
        do throws(Errno) {
            let sent = queue.isEmpty ? try send(bytes) : 0
            guard sent < bytes.count else { return !queue.isAboveHigh }
            queue.append(bytes, skipping: sent)
        } catch {
            failWriting(error)
            return true
        }
        updateInterest()
        return !queue.isAboveHigh
    }

    /// Sends bytes over a unix socket and passes one descriptor with the first byte. See
    /// `write(_:passing:)` for several.
    @discardableResult
    package func write(_ bytes: [UInt8], passing passed: borrowing Descriptor) throws(Errno) -> Bool {
        try write(bytes, passing: [passed.raw])
    }

    /// Sends bytes over a unix socket and passes one to four open descriptors with the first byte
    /// (SCM_RIGHTS). The caller keeps its own descriptors. Bytes that the kernel does not accept
    /// immediately are queued.
    /// - Returns: false if the queue is above the high mark, as for `write`.
    /// - Throws: `wouldBlock` if earlier bytes are queued or the kernel accepts none now,
    ///   `invalidArgument` if `bytes` is empty or writing has ended, or an error of sendmsg(2). In
    ///   each case nothing was sent.
    @discardableResult
    package func write(_ bytes: [UInt8], passing numbers: [Int32]) throws(Errno) -> Bool {
        loop.assertOwned()
        guard isOpen, case .open = writing, !bytes.isEmpty else { throw .invalidArgument }
        guard queue.isEmpty else { throw .wouldBlock }
        // Typed throws do not pass through withUnsafeBytes.
        let result = bytes.withUnsafeBytes { bytes in
            Result { () throws(Errno) in try descriptor?.send(bytes, passing: numbers) ?? 0 }
        }
        let sent = try result.get()
        if sent < bytes.count { queue.append(bytes, skipping: sent) }
        updateInterest()
        return !queue.isAboveHigh
    }

    /// Sends the queued bytes and then the end of the stream (shutdown(2)). Reading continues.
    package func shutdownWrite() {
        loop.assertOwned()
        guard isOpen, case .open = writing else { return }
        writing = .finishing
        shutdownIfFlushed()
        updateInterest()
    }

    // MARK: Closing

    /// Closes the stream immediately. Queued bytes are lost, and no handler is called afterwards.
    package func close() {
        loop.assertOwned()
        source?.cancel()
        source = nil
        closeDescriptor()
        queue.removeAll()
        lingering = nil
        dropHandlers()
    }

    /// Releases the descriptor without closing it, for example to hand it to a loop on another
    /// thread. No handler is called afterwards. All bytes that were read have been delivered.
    /// - Returns: nil, without any change, if bytes are queued, writing has failed or the stream is
    ///   closed.
    package func detach() -> Descriptor? {
        loop.assertOwned()
        guard queue.isEmpty, lingering == nil else { return nil }
        if case .failed = writing { return nil }
        guard let given = descriptor.take() else { return nil }
        // Before other code can watch or close the descriptor.
        source?.cancel()
        source = nil
        dropHandlers()
        return given.release()
    }

    private func dropHandlers() {
        onRead = nil
        onEnd = nil
        onError = nil
        onDrained = nil
        onFlushed = nil
        onPassed = nil
        onTooManyPassed = nil
        onReadSecret = nil
    }

    /// Sends the queued bytes and the end of the stream, waits for the end of the peer's stream,
    /// and closes. No handler is called afterwards, and the owner may release the stream.
    ///
    /// Bytes that arrive in between are discarded. Closing with unread bytes would make TCP reset
    /// the connection, which destroys bytes that the peer has not read yet.
    /// - Parameter deadline: the time after which the stream is closed in any case.
    package func finish(within deadline: Duration = .seconds(5)) {
        loop.assertOwned()
        guard isOpen, lingering == nil else { return }
        lingering = (self, loop.timer(after: deadline) { [weak self] in self?.close() })
        onEnd = nil
        onError = nil
        onDrained = nil
        onFlushed = nil
        // So that `DescriptorCloser` closes passed descriptors, not the kernel on this thread.
        if onPassed != nil { onPassed = { _ in } }
        onTooManyPassed = nil
        if case .paused = reading { reading = .flowing }
        onReadSecret = nil
        onRead = { _ in }
        shutdownWrite()
        closeIfDone()
    }

    // MARK: Events

    private func handle(_ events: IOEvents) {
        let ended: IOEvents = [.hangUp, .error]
        // Read first: bytes that arrived before a failure are delivered before it is reported.
        if !events.isDisjoint(with: [.readable, .readHangUp, .hangUp, .error]), wantsToRead {
            readAvailable(budget: Self.readBudget, toTheEnd: !events.isDisjoint(with: ended))
        }
        if isOpen, !events.isDisjoint(with: [.writable, .hangUp, .error]), !queue.isEmpty {
            flush()
        }
        updateInterest()
        closeIfDone()
    }

    private var wantsToRead: Bool {
        if case .flowing = reading { return isOpen && (onRead != nil || onReadSecret != nil) }
        return false
    }

    /// Derives the watched events from the state. No other code sets them.
    private func updateInterest() {
        guard let source else { return }
        var events: IOEvents = []
        if wantsToRead { events.insert(.readable) }
        if !queue.isEmpty { events.insert(.writable) }
        source.setEvents(events)
    }

    /// Reads until the kernel has no more bytes, the budget is used up or a handler stops it.
    /// - Parameter toTheEnd: continue after a short read, which otherwise means that the kernel has
    ///   no more bytes.
    private func readAvailable(budget: Int, toTheEnd: Bool) {
        var left = budget
        let scratch = loop.scratch
        while left > 0, wantsToRead {
            do throws(Errno) {
                let count = try read(into: scratch)
                guard count > 0 else { return didReadEnd() }
                left -= count
                handOver(UnsafeMutableRawBufferPointer(rebasing: scratch[..<count]))
                // If there are more bytes after all, the event is reported again.
                if count < scratch.count, !toTheEnd { return }
            } catch .tooManyReferences where onTooManyPassed != nil {
                pauseReading()
                onTooManyPassed?()
                return
            } catch {
                if error != .wouldBlock { fail(error) }
                return
            }
        }
    }

    /// Reads once, and delivers the descriptors passed with the bytes.
    private func read(into scratch: UnsafeMutableRawBufferPointer) throws(Errno) -> Int {
        guard onPassed != nil else { return try descriptor?.read(into: scratch) ?? 0 }
        guard let (count, files) = try descriptor?.receive(from: passer, into: scratch) else { return 0 }
        if let files { onPassed?(files) }
        return count
    }

    private func handOver(_ bytes: UnsafeMutableRawBufferPointer) {
        guard let onReadSecret else {
            onRead?(Array(bytes))
            return
        }
        onReadSecret(UnsafeRawBufferPointer(bytes).assumingMemoryBound(to: UInt8.self).span)
        clinux_wipe(bytes.baseAddress, bytes.count)
    }

    private func didReadEnd() {
        reading = .ended
        if case .failed(let error) = writing { return fail(error) }
        onEnd?()
    }

    private func flush() {
        do throws(Errno) {
            try queue.drain { bytes throws(Errno) in try send(bytes) }
        } catch {
            return failWriting(error)
        }
        shutdownIfFlushed()
        if queue.takeDrained() { onDrained?() }
        if queue.isEmpty { onFlushed?() }
    }

    private func shutdownIfFlushed() {
        guard case .finishing = writing, queue.isEmpty else { return }
        writing = .shut
        if descriptor?.isSocket == true {
            descriptor?.sendEnd()
        } else {
            // A pipe has one direction: closing it sends the end.
            close()
        }
    }

    private func closeIfDone() {
        guard lingering != nil, case .ended = reading, queue.isEmpty else { return }
        close()
    }

    // MARK: Failing

    /// Drops the queue, and reports the error after the received bytes were read.
    private func failWriting(_ error: Errno) {
        queue.removeAll()
        writing = .failed(error)
        updateInterest()
        scheduleFailure()
    }

    private func scheduleFailure() {
        guard !isFailureDue else { return }
        isFailureDue = true
        loop.later { [weak self] in self?.reportFailedWrite() }
    }

    private func reportFailedWrite() {
        isFailureDue = false
        readAvailable(budget: Self.lastReadBudget, toTheEnd: true)
        // While paused nothing is read, and received bytes must not be lost. `resumeReading`
        // schedules this call again.
        if case .paused = reading { return }
        if isOpen, case .failed(let error) = writing { fail(error) }
    }

    private func fail(_ error: Errno) {
        let report = onError
        close()
        report?(error)
    }

    // MARK: Sending

    /// Passes bytes to the kernel. Returns how many it accepted, 0 if it accepts none now.
    private func send(_ bytes: [UInt8]) throws(Errno) -> Int {
        // Typed throws do not pass through withUnsafeBytes.
        let result = bytes.withUnsafeBytes { bytes in
            Result { () throws(Errno) in try send(bytes) }
        }
        return try result.get()
    }

    private func send(_ bytes: UnsafeRawBufferPointer) throws(Errno) -> Int {
        try descriptor?.send(bytes) ?? 0
    }
}
