/// A loop that runs on a thread of its own: for libraries, stream loops and tests. A daemon's main loop needs none.
package final class LoopThread: Sendable {
    /// The loop; it runs as long as this object lives and `stop` was not called.
    package let loop: EventLoop
    private let thread: OwnedThread

    /// Makes a loop and starts the thread that runs it.
    /// - Parameter niceness: see `ThreadPriority`; 0 leaves it as it is.
    package init(name: String, clock: ManualClock? = nil, niceness: Int32 = 0) throws(Errno) {
        let loop = try EventLoop(clock: clock)
        self.loop = loop
        loop.disown()
        thread = try OwnedThread(name: name, niceness: niceness) {
            do throws(Errno) {
                try loop.run()
            } catch {
                // Only a broken epoll descriptor gets here, and nobody could be told: every owner of sources would wait
                // for ever.
                preconditionFailure("event loop failed: \(error)")
            }
        }
    }

    deinit {
        loop.stop()
    }

    /// Ends the loop after the handler that runs now and waits for its thread. Not to be called on the loop.
    package func stop() {
        loop.stop()
        thread.join()
    }
}
