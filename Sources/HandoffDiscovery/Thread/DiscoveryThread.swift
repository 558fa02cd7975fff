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
    }

    private let inbox = Locked(Inbox())
    private let name: String
    /// eventfd(2) that wakes the loop. It is as old as this object and closed with it, so no command can wake a
    /// descriptor that is something else by now; the thread holds this object while it runs.
    private let wake: Int32

    /// - Parameter name: at most 15 bytes, for debuggers.
    package init(name: String) {
        self.name = name
        self.wake = clinux_eventfd()
    }

    deinit {
        if wake >= 0 { close(wake) }
    }

    /// Queues a command. Commands before `start` are kept, those after the loop's end are dropped.
    /// - Returns: whether there is a thread that takes it.
    @discardableResult
    package func send(_ command: Command) -> Bool {
        let isRunning = inbox.withLock { inbox in
            if inbox.isOpen { inbox.commands.append(command) }
            return inbox.isOpen && inbox.isStarted
        }
        var one: UInt64 = 1
        // It fails only when the counter is full, and then the loop is awake already.
        if wake >= 0 { _ = write(wake, &one, MemoryLayout.size(ofValue: one)) }
        return isRunning
    }

    /// Starts the thread; called once.
    /// - Parameter makeRole: called on the thread. The role is released when `DiscoveryLoop.finish` was called.
    /// - Returns: false when there are no resources for it.
    package func start(_ makeRole: @escaping @Sendable (DiscoveryLoop) -> any DiscoveryRole<Command>) -> Bool {
        guard wake >= 0 else { return false }
        inbox.withLock { $0.isStarted = true }
        do {
            // Nobody joins it: it may be stuck in a call to a hanging Avahi when the program ends.
            _ = try OwnedThread(name: name) { self.run(makeRole) }
            return true
        } catch {
            closeInbox()
            return false
        }
    }

    private func run(_ makeRole: @Sendable (DiscoveryLoop) -> any DiscoveryRole<Command>) {
        // Signals are for the thread that asked for them.
        var all = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_SETMASK, &all, nil)
        guard let loop = DiscoveryLoop() else { return closeInbox() }
        let role = makeRole(loop)
        loop.watch(wake) { [inbox, wake] in
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
