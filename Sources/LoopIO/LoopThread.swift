/// An event loop that runs on its own thread, for libraries, stream loops and tests. A daemon's
/// main loop does not need one.
package final class LoopThread: Sendable {
    /// The loop. It runs as long as this object exists and `stop` has not been called.
    package let loop: EventLoop
    private let thread: OwnedThread

    /// Creates a loop and starts the thread that runs it.
    /// - Parameters:
    ///   - niceness: see `ThreadPriority`; 0 leaves it unchanged.
    ///   - isDirect: see `EventLoop.init`.
    package init(
        name: String, clock: ManualClock? = nil, niceness: Int32 = 0, isDirect: Bool = false
    ) throws(Errno) {
        let loop = try EventLoop(clock: clock, isDirect: isDirect)
        self.loop = loop
        loop.disown()
        thread = try OwnedThread(name: name, niceness: niceness) {
            do throws(Errno) {
                try loop.run()
            } catch {
                // Reached only if the epoll descriptor is broken. The error cannot be reported, and
                // every owner of a source would wait forever.
                preconditionFailure("event loop failed: \(error)")
            }
        }
    }

    deinit {
        loop.stop()
    }

    /// Stops the loop after the current handler and waits for its thread. Must not be called on the
    /// loop.
    package func stop() {
        loop.stop()
        thread.join()
    }
}
