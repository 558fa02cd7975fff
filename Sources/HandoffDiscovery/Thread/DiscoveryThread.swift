import CLinux
import Glibc
import LoopIO

/// One owned thread with Avahi's simple poll loop, for libraries whose calls may wait for seconds. Commands go in, and
/// events come out, as plain values; whoever sends a command never waits.
package final class DiscoveryThread<Command: Sendable>: Sendable {
    private struct Inbox {
        var commands: [Command] = []
        var isOpen = true
        var isStarted = false
        /// eventfd(2) that wakes the loop; negative while there was no descriptor for it. It is closed with this object, so no command can
        /// wake a descriptor that is something else by now; the thread holds this object while it runs.
        var wake = clinux_eventfd()
    }

    /// How long the thread waits before it tries again to get descriptors, in milliseconds.
    private static var retryInterval: Int32 { 1000 }

    private let inbox = Locked(Inbox())
    private let name: String

    /// - Parameter name: at most 15 bytes, for debuggers.
    package init(name: String) {
        self.name = name
    }

    deinit {
        let wake = inbox.withLock { $0.wake }
        if wake >= 0 { close(wake) }
    }

    /// Queues a command. Commands before `start` are kept, those after the loop's end are dropped.
    /// - Returns: whether there is a thread that takes it.
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
        // It fails only when the counter is full, and then the loop is awake already.
        if wake >= 0 { _ = write(wake, &one, MemoryLayout.size(ofValue: one)) }
    }

    /// Starts the thread; called once.
    /// - Parameters:
    ///   - onShortage: called on the thread, at most once, when there are no descriptors for its loop. It retries every second.
    ///   - makeRole: called on the thread. The role is released when `DiscoveryLoop.finish` was called.
    /// - Returns: false when no thread can be created.
    package func start(
        onShortage: @escaping @Sendable (String) -> Void = { _ in },
        _ makeRole: @escaping @Sendable (DiscoveryLoop) -> any DiscoveryRole<Command>
    ) -> Bool {
        inbox.withLock { $0.isStarted = true }
        do {
            // Nobody joins it: it may be stuck in a call to a hanging Avahi when the program ends.
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
        // Signals are for the thread that asked for them.
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
        // Watches go before the descriptors that the role owns.
        withExtendedLifetime(role) { loop.close() }
    }

    /// The loop and the descriptor that wakes it, as soon as there are descriptors for them.
    private func waitForLoop(_ onShortage: @Sendable (String) -> Void) -> (DiscoveryLoop, wake: Int32) {
        var isReported = false
        while true {
            let wake = inbox.withLock { inbox in
                if inbox.wake < 0 { inbox.wake = clinux_eventfd() }
                return inbox.wake
            }
            if wake >= 0, let loop = DiscoveryLoop() {
                // For commands that found nothing to wake.
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

/// What lives on a discovery thread: made there, used there alone, and released there.
package protocol DiscoveryRole<Command>: AnyObject {
    associatedtype Command: Sendable

    /// Begins; called once, before the first command.
    func start()

    /// Takes a command from the owner, in order.
    func handle(_ command: Command)

    /// Called after every turn of the loop, whatever happened in it: the place to act on what C callbacks left, for
    /// in a callback nothing may be freed.
    func turnEnded()

    /// Called once at the end, while the loop still exists: the last chance to free what hangs on it.
    func end()
}
