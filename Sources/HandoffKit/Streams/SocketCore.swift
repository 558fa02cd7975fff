import Glibc
import LoopIO

/// The descriptor of a stream, for any thread, and the watch for it, which belongs to the loop. It is closed once nobody uses
/// it any more, and after the watch has ended.
final class SocketCore: Sendable {
    /// Which of the two directions is waited for.
    enum Direction: Sendable {
        /// Bytes that come, or their end.
        case reading
        /// Room for bytes that are sent.
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

    /// The watch and who waits for it; belong to the loop's thread.
    private final class Watch {
        var source: EventSource?
        var readers: [StreamWaiter] = []
        var writers: [StreamWaiter] = []
    }

    /// Where it is watched.
    let loop: EventLoop
    private let shared: Locked<Shared>
    private let bound: LoopBound<Watch>

    private var watch: Watch { bound.value }

    /// Takes over a connected socket that does not block.
    init(_ descriptor: consuming Descriptor, loop: EventLoop) {
        self.loop = loop
        shared = Locked(Shared(descriptor: descriptor))
        bound = LoopBound(sending: Watch(), to: loop)
    }

    deinit {
        // Only when the loop has ended; else `end` was done there. Before the descriptor, which closes with its property.
        if shared.withLock({ $0.isWatched }) { watch.source?.cancel() }
    }

    /// Calls something with the descriptor, which stays open meanwhile. Any thread.
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

    /// Waits until a direction can go on, has ended or has failed; a timeout in milliseconds, -1 for none. Any thread.
    /// - Returns: whether it can.
    func poll(_ direction: Direction, timeout: Int32) -> Bool {
        let events = Int16(direction == .reading ? POLLIN : POLLOUT)
        // After the end there is nothing to wait for.
        return withDescriptor { raw in
            var entry = pollfd(fd: raw, events: events, revents: 0)
            while true {
                let result = Glibc.poll(&entry, 1, timeout)
                if result >= 0 { return result > 0 }
                if errno != EINTR { return true }
            }
        } ?? true
    }

    /// What a call that moves bytes came to; one that would wait fails with EAGAIN. Any thread.
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

    /// Ends both directions at once; who waits is woken. Any thread.
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

    /// Wakes a waiter once on the loop's thread, when a direction can continue, has ended or has failed. Any thread.
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

    /// Releases the waiters that were cancelled. Any thread.
    func removeCancelled() {
        loop.perform { [self] in
            watch.readers.removeAll(where: \.isCancelled)
            watch.writers.removeAll(where: \.isCancelled)
            if watch.source != nil { updateWatch() }
        }
    }

    /// Watches for what is waited for now.
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
            // Whoever is woken finds out by reading or writing.
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
        // Taken out first: a handler may ask to be called again.
        let woken = direction == .reading ? watch.readers : watch.writers
        switch direction {
        case .reading: watch.readers = []
        case .writing: watch.writers = []
        }
        for waiter in woken { waiter.wake() }
    }
}

/// Something that waits for a direction of a stream, until it is woken or cancelled. Any thread.
final class StreamWaiter: Sendable {
    private let handler: Locked<(@Sendable () -> Void)?>

    /// - Parameter handler: is called once, on the loop's thread.
    init(_ handler: @escaping @Sendable () -> Void) {
        self.handler = Locked(handler)
    }

    /// Whether it was cancelled, or woken before.
    var isCancelled: Bool { handler.withLock { $0 == nil } }

    /// Calls the handler; nothing the second time.
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
