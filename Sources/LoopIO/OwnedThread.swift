import CLinux
import Glibc

/// A named thread that its owner joins. For loops and workers, not for single tasks.
package final class OwnedThread: Sendable {
    private let identity: UInt
    private let isJoined = Locked(false)

    /// Starts a thread (pthread_create(3)) that calls `body` and ends when it returns.
    /// - Parameters:
    ///   - name: shown by `top -H`; the kernel keeps 15 bytes.
    ///   - niceness: see `ThreadPriority`; 0 leaves it unchanged.
    package init(name: String, niceness: Int32 = 0, body: @escaping @Sendable () -> Void) throws(Errno) {
        var thread = pthread_t()
        // The thread takes ownership of the object. If it cannot be started, the object is released
        // here.
        let context = Unmanaged.passRetained(Start(name: name, niceness: niceness, body: body))
        let result = pthread_create(&thread, nil, runOwnedThread, context.toOpaque())
        if result != 0 {
            context.release()
            throw Errno(rawValue: result)
        }
        identity = UInt(thread)
    }

    deinit {
        // Nothing joins it any more. The system frees a detached thread when it ends.
        if isJoined.withLock({ !$0 }) { pthread_detach(pthread_t(identity)) }
    }

    /// Waits until the body has returned. Must not be called by the thread itself.
    package func join() {
        let first = isJoined.withLock { isJoined in
            defer { isJoined = true }
            return !isJoined
        }
        if first { pthread_join(pthread_t(identity), nil) }
    }
}

private final class Start: Sendable {
    let name: String
    let niceness: Int32
    let body: @Sendable () -> Void

    init(name: String, niceness: Int32, body: @escaping @Sendable () -> Void) {
        self.name = name
        self.niceness = niceness
        self.body = body
    }
}

private func runOwnedThread(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let context else { return nil }
    let start = Unmanaged<Start>.fromOpaque(context).takeRetainedValue()
    clinux_name_thread(start.name)
    ThreadPriority.lower(to: start.niceness)
    start.body()
    return nil
}
