import CLinux
import Glibc
import Synchronization

/// A value behind a lock, for the few places where threads share state: inboxes, sinks, hand-overs.
///
/// ThreadSanitizer does not see the order that Swift's `Mutex` makes and would report races that are none. In such
/// builds a pthread lock, which it knows, is held around the `Mutex`.
package final class Locked<Value: ~Copyable>: Sendable {
    private let mutex: Mutex<Value>
    private let visible: PthreadLock?

    package init(_ value: consuming sending Value) {
        mutex = Mutex(value)
        visible = clinux_is_thread_sanitized() == 1 ? PthreadLock() : nil
    }

    /// Runs `body` with the only access to the value. Do not call out, block or take another lock in it.
    package func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        visible?.lock()
        defer { visible?.unlock() }
        return try mutex.withLock(body)
    }
}

/// A pthread mutex at an address that does not move.
final class PthreadLock: Sendable {
    /// Unsafe for the compiler only: it never changes, and a mutex is made for use by several threads.
    nonisolated(unsafe) let pointer: UnsafeMutablePointer<pthread_mutex_t>

    init() {
        pointer = .allocate(capacity: 1)
        // Cannot fail with default attributes on Linux.
        pthread_mutex_init(pointer, nil)
    }

    deinit {
        pthread_mutex_destroy(pointer)
        pointer.deallocate()
    }

    func lock() { pthread_mutex_lock(pointer) }

    func unlock() { pthread_mutex_unlock(pointer) }
}
