import Foundation
import Glibc
import LoopIO

/// The descriptor of a stream, for any thread, and the watch for it, which belongs to the loop. It is closed once nobody uses
/// it any more, and after the watch has ended.
///
/// Unchecked Sendable: descriptor, users and the end are behind the lock; watch and handlers are touched on the loop's thread.
final class SocketCore: @unchecked Sendable {
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
    }

    private let loop: EventLoop
    private let lock = NSLock()
    private var shared: Shared
    private var source: EventSource?
    private var readers: [@Sendable () -> Void] = []
    private var writers: [@Sendable () -> Void] = []

    /// Takes over a connected socket that does not block.
    init(_ descriptor: consuming Descriptor, loop: EventLoop) {
        self.loop = loop
        shared = Shared(descriptor: descriptor)
    }

    deinit {
        // Only when the loop has ended, or right after `end` was done there.
        source?.cancel()
    }

    /// Calls something with the descriptor, which stays open meanwhile. Any thread.
    /// - Returns: nil after the end.
    func withDescriptor<Value>(_ body: (Int32) -> Value) -> Value? {
        lock.lock()
        let raw = shared.hasEnded ? nil : shared.descriptor?.raw
        if raw != nil { shared.users += 1 }
        lock.unlock()
        guard let raw else { return nil }
        defer {
            lock.lock()
            shared.users -= 1
            closeIfUnused()
            lock.unlock()
        }
        return body(raw)
    }

    /// Ends both directions at once; who waits is woken. Any thread.
    func end() {
        lock.lock()
        let isFirst = !shared.hasEnded
        shared.hasEnded = true
        if isFirst, let raw = shared.descriptor?.raw { _ = shutdown(raw, Int32(SHUT_RDWR)) }
        lock.unlock()
        guard isFirst else { return }
        loop.perform { [self] in
            source?.cancel()
            source = nil
            lock.lock()
            shared.isWatched = false
            closeIfUnused()
            lock.unlock()
            wake(.reading)
            wake(.writing)
        }
    }

    /// Calls a handler once on the loop's thread, when a direction can go on, has ended or has failed. Any thread.
    func whenReady(_ direction: Direction, _ handler: @escaping @Sendable () -> Void) {
        loop.perform { [self] in
            switch direction {
            case .reading: readers.append(handler)
            case .writing: writers.append(handler)
            }
            watch()
        }
    }

    private func watch() {
        var events: IOEvents = []
        if !readers.isEmpty { events.insert(.readable) }
        if !writers.isEmpty { events.insert(.writable) }
        if let source { return source.setEvents(events) }
        lock.lock()
        let raw = shared.hasEnded ? nil : shared.descriptor?.raw
        if raw != nil { shared.isWatched = true }
        lock.unlock()
        do throws(Errno) {
            guard let raw else { throw .invalidArgument }
            source = try loop.watch(raw, events) { [unowned self] events in ready(events) }
        } catch {
            // Whoever is woken finds out by reading or writing.
            wake(.reading)
            wake(.writing)
        }
    }

    private func ready(_ events: IOEvents) {
        if !events.isDisjoint(with: [.readable, .hangUp, .error]) { wake(.reading) }
        if !events.isDisjoint(with: [.writable, .hangUp, .error]) { wake(.writing) }
        if source != nil { watch() }
    }

    private func wake(_ direction: Direction) {
        // Taken out first: a handler may ask to be called again.
        let woken = direction == .reading ? readers : writers
        switch direction {
        case .reading: readers = []
        case .writing: writers = []
        }
        for handler in woken { handler() }
    }

    /// With the lock held.
    private func closeIfUnused() {
        guard shared.hasEnded, shared.users == 0, !shared.isWatched else { return }
        shared.descriptor = nil
    }
}
