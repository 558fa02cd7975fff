import CLinux
import Glibc
import Synchronization

/// A value protected by a lock, for the few places where threads share state: inboxes, sinks,
/// hand-overs.
///
/// ThreadSanitizer does not recognise the ordering that Swift's `Mutex` establishes and would
/// report false races. In such builds a pthread mutex, which it recognises, is held around the
/// `Mutex`.
package final class Locked<Value: ~Copyable>: Sendable {
    private let mutex: Mutex<Value>
    private let visible: PthreadLock?

    package init(_ value: consuming sending Value) {
        mutex = Mutex(value)
        visible = clinux_is_thread_sanitized() == 1 ? PthreadLock() : nil
    }

    /// Calls `body` with exclusive access to the value. `body` must not call handlers, block or
    /// take another lock.
    package func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        visible?.lock()
        defer { visible?.unlock() }
        return try mutex.withLock(body)
    }
}

/// A pthread mutex at a fixed address.
final class PthreadLock: Sendable {
    /// Unsafe for the compiler only: the pointer never changes, and a mutex is made for use by
    /// several threads.
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
