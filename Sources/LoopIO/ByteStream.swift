import CLinux

/// A connected stream socket or pipe on a loop: reads are handed over in order, writes are sent at once or queued.
///
/// Used on the loop's thread only. Set the handlers right after making it; bytes are read only while `onRead` is set.
/// After `onEnd` the stream may still be written to; after `onError` it is closed. Every handler may close the stream.
/// What it watches for follows from its state after each step, so that a descriptor which hangs up is either read to
/// its end or not watched at all.
package final class ByteStream {
    /// When a writer should pause.
    package typealias Marks = WriteQueue.Marks

    private enum Reading {
        /// The state while bytes are read and handed over.
        case flowing
        /// The state between `pauseReading` and `resumeReading`.
        case paused
        /// The state once the other end has written its last byte.
        case ended
    }

    private enum Writing {
        /// The state while `write` is allowed.
        case open
        /// The state from `shutdownWrite` until the queue is empty.
        case finishing
        /// The state once the end of our bytes was sent.
        case shut
        /// The state once the other end takes no more bytes; what it sent before is still read.
        case failed(Errno)
    }

    /// One turn of the loop reads at most this much from one stream, then looks at the others.
    private static let readBudget = 2 * EventLoop.scratchSize
    /// After a failed write, what has arrived is still handed over, up to this much: more than a receive buffer holds.
    private static let lastReadBudget = 8 * 1024 * 1024

    /// Bytes that have arrived, never none.
    package var onRead: (([UInt8]) -> Void)? {
        didSet { updateInterest() }
    }
    /// Takes the place of `onRead` for bytes that are secret: they are lent for the time of the call, and no copy of them
    /// stays in this stream or in the loop.
    package var onReadSecret: ((Span<UInt8>) -> Void)? {
        didSet { updateInterest() }
    }
    /// Descriptors that the other end of a unix socket has passed (SCM_RIGHTS), in order; called right before the bytes
    /// with which they came are handed over. Bytes that were sent before them may be among these.
    ///
    /// Empty: some were passed, but this process may not open so many. While it is nil, the kernel closes what is passed,
    /// which may wait: set it wherever the other end is not trusted.
    package var onPassed: (([PassedFile]) -> Void)?
    /// Descriptors were passed while too many of `passer` wait to be closed already (`DescriptorCloser`): nothing more can be read,
    /// and reading is paused. Bytes can still be written. Without a handler the connection fails.
    package var onPassedTooMany: (() -> Void)?
    /// Who passes descriptors at the other end.
    package var passer = DescriptorSource.unnamed
    /// The other end writes no more (read(2) returned 0); called once.
    package var onEnd: (() -> Void)?
    /// The connection has failed and the stream is closed; called once, and nothing after it.
    package var onError: ((Errno) -> Void)?
    /// The queue was above the high mark and has fallen to the low one.
    package var onDrained: (() -> Void)?
    /// The kernel has taken the last byte that was queued.
    package var onFlushed: (() -> Void)?

    private let loop: EventLoop
    private var descriptor: StreamDescriptor?
    private var source: EventSource?
    private var reading = Reading.flowing
    private var writing = Writing.open
    private var queue: WriteQueue
    /// Whether a failed write is reported in a later turn: a handler is never called from inside `write`.
    private var isFailureDue = false
    /// Set from `finish` on: keeps the stream alive until the other end has everything, at the latest until the timer.
    private var lingering: (stream: ByteStream, timer: LoopTimer)?

    /// Takes over a connected socket or the end of a pipe, and makes it non-blocking.
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
        if let former = descriptor.take() { LocalSocket.close(former.release(), from: passer) }
    }

    // MARK: State

    /// Whether it is neither closed nor failed.
    package var isOpen: Bool { descriptor != nil }

    /// Bytes that were written but not yet taken by the kernel.
    package var pendingWriteBytes: Int { queue.count }

    /// The descriptor's number while the stream is open, for socket options and credentials; it stays the stream's.
    package var rawDescriptor: Int32? {
        descriptor?.raw
    }

    // MARK: Reading

    /// Stops reading; the other end is slowed down once the kernel's buffers are full.
    package func pauseReading() {
        guard case .flowing = reading else { return }
        reading = .paused
        updateInterest()
    }

    /// Reads again after `pauseReading`.
    package func resumeReading() {
        guard case .paused = reading else { return }
        reading = .flowing
        if case .failed = writing { scheduleFailure() }
        updateInterest()
    }

    // MARK: Writing

    /// Sends bytes in order, at once as far as the kernel takes them.
    ///
    /// After a failure or `shutdownWrite` they are dropped: the owner is told of failures by `onError`.
    /// - Returns: false when the queue is above the high mark; write on after `onDrained`.
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

    /// Sends bytes over a unix socket and passes a descriptor with the first of them, as the other `write` with one.
    @discardableResult
    package func write(_ bytes: [UInt8], passing passed: borrowing Descriptor) throws(Errno) -> Bool {
        try write(bytes, passing: [passed.raw])
    }

    /// Sends bytes over a unix socket and passes open descriptors with the first of them (SCM_RIGHTS), one to four; the caller
    /// keeps its own. What the kernel does not take of the bytes at once is queued.
    /// - Returns: false when the queue is above the high mark, as `write`.
    /// - Throws: `wouldBlock` when earlier bytes wait or the kernel takes none now, `invalidArgument` without bytes or
    ///   once writing has ended, or an error of sendmsg(2). Then nothing was sent.
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

    /// Sends what is queued and then the end of the stream (shutdown(2)); reading goes on.
    package func shutdownWrite() {
        loop.assertOwned()
        guard isOpen, case .open = writing else { return }
        writing = .finishing
        shutdownIfFlushed()
        updateInterest()
    }

    // MARK: Closing

    /// Closes it at once; what is queued is lost, and no handler is called any more.
    package func close() {
        loop.assertOwned()
        source?.cancel()
        source = nil
        closeDescriptor()
        queue.removeAll()
        lingering = nil
        dropHandlers()
    }

    /// Gives the descriptor up without closing it, for example to a loop on another thread; no handler is called any more.
    /// Everything that was read before has been handed over.
    /// - Returns: nil when written bytes still wait, when writing has failed, and when it is closed: then nothing changes.
    package func detach() -> Descriptor? {
        loop.assertOwned()
        guard queue.isEmpty, lingering == nil else { return nil }
        if case .failed = writing { return nil }
        guard let given = descriptor.take() else { return nil }
        // Before anybody else can watch or close the number.
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
        onPassedTooMany = nil
        onReadSecret = nil
    }

    /// Sends what is queued and the end of the stream, waits until the other end has ended too, and closes. No handler
    /// is called any more, and the owner may let go of the stream.
    ///
    /// Bytes that arrive meanwhile are thrown away: closing with unread bytes would make TCP reset the connection,
    /// which destroys what the other end has not read yet.
    /// - Parameter deadline: when it is closed whatever the other end does.
    package func finish(within deadline: Duration = .seconds(5)) {
        loop.assertOwned()
        guard isOpen, lingering == nil else { return }
        lingering = (self, loop.timer(after: deadline) { [weak self] in self?.close() })
        onEnd = nil
        onError = nil
        onDrained = nil
        onFlushed = nil
        // What is still passed is let go of elsewhere: the kernel would close it here.
        if onPassed != nil { onPassed = { _ in } }
        onPassedTooMany = nil
        if case .paused = reading { reading = .flowing }
        onReadSecret = nil
        onRead = { _ in }
        shutdownWrite()
        closeIfDone()
    }

    // MARK: Events

    private func handle(_ events: IOEvents) {
        let ended: IOEvents = [.hangUp, .error]
        // Reading first: what arrived before a failure is handed over before the failure is.
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

    /// Derives what to watch for from the state. The only place that sets it.
    private func updateInterest() {
        guard let source else { return }
        var events: IOEvents = []
        if wantsToRead { events.insert(.readable) }
        if !queue.isEmpty { events.insert(.writable) }
        source.setEvents(events)
    }

    /// Reads until the kernel has no more, the budget is used up or a handler stops it.
    /// - Parameter toTheEnd: whether to go on after a short read, which otherwise means that the kernel has no more.
    private func readAvailable(budget: Int, toTheEnd: Bool) {
        var left = budget
        let scratch = loop.scratch
        while left > 0, wantsToRead {
            do throws(Errno) {
                let count = try read(into: scratch)
                guard count > 0 else { return didReadEnd() }
                left -= count
                handOver(UnsafeMutableRawBufferPointer(rebasing: scratch[..<count]))
                // The state is reported again should there be more after all.
                if count < scratch.count, !toTheEnd { return }
            } catch .tooManyReferences where onPassedTooMany != nil {
                pauseReading()
                onPassedTooMany?()
                return
            } catch {
                if error != .wouldBlock { fail(error) }
                return
            }
        }
    }

    /// Reads once, and hands over what was passed with the bytes.
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
            // A pipe has one direction: its end is sent by closing it.
            close()
        }
    }

    private func closeIfDone() {
        guard lingering != nil, case .ended = reading, queue.isEmpty else { return }
        close()
    }

    // MARK: Failing

    /// Drops what is queued and reports the error after the bytes that have arrived were read.
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
        // While paused nothing is read, and what was sent to us must not be lost: `resumeReading` comes back here.
        if case .paused = reading { return }
        if isOpen, case .failed(let error) = writing { fail(error) }
    }

    private func fail(_ error: Errno) {
        let report = onError
        close()
        report?(error)
    }

    // MARK: Sending

    /// Hands bytes to the kernel. Returns how many it took, 0 when it takes none now.
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
