import Glibc
import LoopIO

/// The descriptor of a stream, usable on any thread, and its watch, which belongs to the loop. The
/// descriptor is closed when it is unused and its watch has ended.
final class SocketCore: Sendable {
    enum Direction: Sendable {
        /// Incoming bytes, or their end.
        case reading
        /// Space for outgoing bytes.
        case writing
    }

    private struct Shared: ~Copyable {
        var descriptor: Descriptor?
        var users = 0
        var hasEnded = false
        var isWatched = false

        mutating func closeIfUnused() {
            guard hasEnded, users == 0, !isWatched else { return }
            descriptor = nil
        }
    }

    /// The watch and its waiters, which belong to the loop's thread.
    private final class Watch {
        var source: EventSource?
        var readers: [StreamWaiter] = []
        var writers: [StreamWaiter] = []
    }

    let loop: EventLoop
    private let shared: Locked<Shared>
    private let bound: LoopBound<Watch>

    private var watch: Watch { bound.value }

    /// Creates a core that owns a connected, non-blocking socket.
    init(_ descriptor: consuming Descriptor, loop: EventLoop) {
        self.loop = loop
        shared = Locked(Shared(descriptor: descriptor))
        bound = LoopBound(sending: Watch(), to: loop)
    }

    deinit {
        // Only if the loop has ended; otherwise `end` did this on the loop. It must precede the
        // closing of the descriptor by its property.
        if shared.withLock({ $0.isWatched }) { watch.source?.cancel() }
    }

    /// Calls `body` with the descriptor, which stays open during the call. Any thread.
    /// - Returns: nil after the end.
    func withDescriptor<Value>(_ body: (Int32) -> Value) -> Value? {
        let raw = shared.withLock { shared in
            let raw = shared.hasEnded ? nil : shared.descriptor?.raw
            if raw != nil { shared.users += 1 }
            return raw
        }
        guard let raw else { return nil }
        defer {
            shared.withLock { shared in
                shared.users -= 1
                shared.closeIfUnused()
            }
        }
        return body(raw)
    }

    /// Blocks until a direction can continue, has ended or has failed. Any thread.
    /// - Parameter timeout: in milliseconds; -1 for none.
    /// - Returns: false after a timeout.
    func poll(_ direction: Direction, timeout: Int32) -> Bool {
        let events = Int16(direction == .reading ? POLLIN : POLLOUT)
        // After the end, return immediately.
        return withDescriptor { raw in
            var entry = pollfd(fd: raw, events: events, revents: 0)
            while true {
                let result = Glibc.poll(&entry, 1, timeout)
                if result >= 0 { return result > 0 }
                if errno != EINTR { return true }
            }
        } ?? true
    }

    /// Returns the outcome of a call that moves bytes. A call that would block must fail with
    /// EAGAIN. Any thread.
    func outcome(_ call: (Int32) -> Int) -> StreamSocket.Outcome {
        withDescriptor { raw in
            do throws(Errno) {
                let count = try SystemCall.retrying { call(raw) }
                return count == 0 ? .ended : .moved(count)
            } catch {
                return error == .wouldBlock ? .wouldBlock : .failed(error)
            }
        } ?? .ended
    }

    /// Ends both directions immediately, and wakes all waiters. Any thread.
    func end() {
        let isFirst = shared.withLock { shared in
            let isFirst = !shared.hasEnded
            shared.hasEnded = true
            if isFirst, let raw = shared.descriptor?.raw { _ = shutdown(raw, Int32(SHUT_RDWR)) }
            return isFirst
        }
        guard isFirst else { return }
        loop.perform { [self] in
            watch.source?.cancel()
            watch.source = nil
            shared.withLock { shared in
                shared.isWatched = false
                shared.closeIfUnused()
            }
            wake(.reading)
            wake(.writing)
        }
    }

    /// Wakes a waiter once, on the loop's thread, when a direction is ready, has ended or has
    /// failed. Any thread.
    func whenReady(_ direction: Direction, _ waiter: StreamWaiter) {
        loop.perform { [self] in
            guard !waiter.isCancelled else { return }
            switch direction {
            case .reading: watch.readers.append(waiter)
            case .writing: watch.writers.append(waiter)
            }
            updateWatch()
        }
    }

    /// Releases the cancelled waiters. Any thread.
    func removeCancelled() {
        loop.perform { [self] in
            watch.readers.removeAll(where: \.isCancelled)
            watch.writers.removeAll(where: \.isCancelled)
            if watch.source != nil { updateWatch() }
        }
    }

    /// Updates the watched events to those that have waiters.
    private func updateWatch() {
        let watch = watch
        var events: IOEvents = []
        if !watch.readers.isEmpty { events.insert(.readable) }
        if !watch.writers.isEmpty { events.insert(.writable) }
        if let source = watch.source { return source.setEvents(events) }
        let raw = shared.withLock { shared in
            let raw = shared.hasEnded ? nil : shared.descriptor?.raw
            if raw != nil { shared.isWatched = true }
            return raw
        }
        do throws(Errno) {
            guard let raw else { throw .invalidArgument }
            watch.source = try loop.watch(raw, events) { [unowned self] events in ready(events) }
        } catch {
            // The waiters find the error when they read or write.
            wake(.reading)
            wake(.writing)
        }
    }

    private func ready(_ events: IOEvents) {
        if !events.isDisjoint(with: [.readable, .hangUp, .error]) { wake(.reading) }
        if !events.isDisjoint(with: [.writable, .hangUp, .error]) { wake(.writing) }
        if watch.source != nil { updateWatch() }
    }

    private func wake(_ direction: Direction) {
        // Cleared first, because a handler may register again.
        let woken = direction == .reading ? watch.readers : watch.writers
        switch direction {
        case .reading: watch.readers = []
        case .writing: watch.writers = []
        }
        for waiter in woken { waiter.wake() }
    }
}

/// A waiter for a direction of a stream, until it is woken or cancelled. Any thread.
final class StreamWaiter: Sendable {
    private let handler: Locked<(@Sendable () -> Void)?>

    /// - Parameter handler: called once, on the loop's thread.
    init(_ handler: @escaping @Sendable () -> Void) {
        self.handler = Locked(handler)
    }

    /// True if the waiter was cancelled or already woken.
    var isCancelled: Bool { handler.withLock { $0 == nil } }

    /// Calls the handler. Does nothing the second time.
    func wake() { take()?() }

    /// Releases the handler. `SocketCore.removeCancelled` then releases the waiter.
    func cancel() { _ = take() }

    private func take() -> (@Sendable () -> Void)? {
        handler.withLock { handler in
            defer { handler = nil }
            return handler
        }
    }
}
