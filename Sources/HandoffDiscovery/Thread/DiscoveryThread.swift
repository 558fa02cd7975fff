import CLinux
import Glibc
import LoopIO

/// A dedicated thread with Avahi's simple poll loop, for libraries whose calls may block for
/// seconds. Commands and events are plain values. Sending a command never blocks.
package final class DiscoveryThread<Command: Sendable>: Sendable {
    private struct Inbox {
        var commands: [Command] = []
        var isOpen = true
        var isStarted = false
        /// The eventfd(2) that wakes the loop; negative while no descriptor was available. It is
        /// closed when this object is released, so a command never writes to a reused descriptor.
        /// The thread retains this object while it runs.
        var wake = clinux_eventfd()
    }

    /// The delay before the thread tries again to get descriptors, in milliseconds.
    private static var retryInterval: Int32 { 1000 }

    private let inbox = Locked(Inbox())
    private let name: String

    /// - Parameter name: At most 15 bytes, for debuggers.
    package init(name: String) {
        self.name = name
    }

    deinit {
        let wake = inbox.withLock { $0.wake }
        if wake >= 0 { close(wake) }
    }

    /// Queues a command. Commands sent before `start` are kept. Those sent after the end of the
    /// loop are dropped.
    /// - Returns: True if there is a thread to handle it.
    @discardableResult
    package func send(_ command: Command) -> Bool {
        let (isRunning, wake) = inbox.withLock { inbox in
            if inbox.isOpen { inbox.commands.append(command) }
            return (inbox.isOpen && inbox.isStarted, inbox.wake)
        }
        DiscoveryThread.signal(wake)
        return isRunning
    }

    private static func signal(_ wake: Int32) {
        var one: UInt64 = 1
        // It fails only if the counter is full. The loop is then already awake.
        if wake >= 0 { _ = write(wake, &one, MemoryLayout.size(ofValue: one)) }
    }

    /// Starts the thread. Call it once.
    /// - Parameters:
    ///   - onShortage: Called on the thread, at most once, if there are no descriptors for its
    ///     loop. The thread retries every second.
    ///   - makeRole: Called on the thread. The role is released after `DiscoveryLoop.finish` has
    ///     been called.
    /// - Returns: False if no thread can be created.
    package func start(
        onShortage: @escaping @Sendable (String) -> Void = { _ in },
        _ makeRole: @escaping @Sendable (DiscoveryLoop) -> any DiscoveryRole<Command>
    ) -> Bool {
        inbox.withLock { $0.isStarted = true }
        do {
            // The thread is never joined: it may be blocked in a call to a hanging Avahi when the
            // program ends.
            _ = try OwnedThread(name: name) { self.run(onShortage, makeRole) }
            return true
        } catch {
            closeInbox()
            return false
        }
    }

    private func run(
        _ onShortage: @Sendable (String) -> Void, _ makeRole: @Sendable (DiscoveryLoop) -> any DiscoveryRole<Command>
    ) {
        // Signals are handled by the thread that requested them.
        var all = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_SETMASK, &all, nil)
        let (loop, wake) = waitForLoop(onShortage)
        let role = makeRole(loop)
        loop.watch(wake) { [inbox] in
            var count: UInt64 = 0
            _ = read(wake, &count, MemoryLayout.size(ofValue: count))
            let commands = inbox.withLock { inbox in
                defer { inbox.commands = [] }
                return inbox.commands
            }
            for command in commands where !loop.isFinished { role.handle(command) }
        }
        role.start()
        repeat { role.turnEnded() } while !loop.isFinished && loop.turn()
        closeInbox()
        role.end()
        // Free the watches before the descriptors that the role owns.
        withExtendedLifetime(role) { loop.close() }
    }

    /// Returns the loop and its wake descriptor as soon as descriptors are available.
    private func waitForLoop(_ onShortage: @Sendable (String) -> Void) -> (DiscoveryLoop, wake: Int32) {
        var isReported = false
        while true {
            let wake = inbox.withLock { inbox in
                if inbox.wake < 0 { inbox.wake = clinux_eventfd() }
                return inbox.wake
            }
            if wake >= 0, let loop = DiscoveryLoop() {
                // Wake the loop for commands that were sent before the descriptor existed.
                DiscoveryThread.signal(wake)
                return (loop, wake)
            }
            if !isReported { onShortage("\(Errno.current)") }
            isReported = true
            poll(nil, 0, DiscoveryThread.retryInterval)
        }
    }

    private func closeInbox() {
        inbox.withLock { inbox in
            inbox.isOpen = false
            inbox.commands = []
        }
    }
}

/// An object that is created, used and released on a discovery thread.
package protocol DiscoveryRole<Command>: AnyObject {
    associatedtype Command: Sendable

    /// Starts the role. Called once, before the first command.
    func start()

    /// Handles the owner's commands, in order.
    func handle(_ command: Command)

    /// Called after every turn of the loop. Act on the results of C callbacks here, because nothing
    /// may be freed in a callback.
    func turnEnded()

    /// Called once at the end, while the loop still exists, to free everything that depends on it.
    func end()
}
