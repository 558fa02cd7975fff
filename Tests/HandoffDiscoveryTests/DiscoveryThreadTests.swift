import HandoffDiscovery
import HandoffModel
import HandoffTestSupport
import LoopIO
import Testing

/// A role that consists of closures.
private final class ClosureRole: DiscoveryRole {
    typealias Command = @Sendable (DiscoveryLoop) -> Void

    private let loop: DiscoveryLoop
    private let note: @Sendable (String) -> Void

    init(_ loop: DiscoveryLoop, _ note: @escaping @Sendable (String) -> Void) {
        self.loop = loop
        self.note = note
    }

    deinit { note("released") }

    func start() { note("started") }
    func handle(_ command: Command) { command(loop) }
    func turnEnded() {}
    func end() { note("ended") }
}

/// Follows the machine's addresses until the first table.
private final class AddressRole: DiscoveryRole {
    private let loop: DiscoveryLoop
    private let onTable: @Sendable (InterfaceTable) -> Void
    private var addresses: LocalAddresses?

    init(_ loop: DiscoveryLoop, _ onTable: @escaping @Sendable (InterfaceTable) -> Void) {
        self.loop = loop
        self.onTable = onTable
    }

    func start() {
        addresses = LocalAddresses(
            loop: loop, logger: Logger(subsystem: "test", sink: MemorySink(), level: .fault), onChange: onTable)
        loop.finish()
    }

    func handle(_ command: Never) {}
    func turnEnded() {}
    func end() {}
}

@Suite(.timeLimit(.minutes(5))) struct DiscoveryThreadTests {
    private typealias Command = @Sendable (DiscoveryLoop) -> Void

    /// Runs a thread with these commands until it releases its role, and returns the notes.
    private static func run(_ commands: (@escaping @Sendable (String) -> Void) -> [Command]) async -> [String] {
        let notes = Locked<[String]>([])
        let thread = DiscoveryThread<Command>(name: "test")
        await withCheckedContinuation { continuation in
            let note: @Sendable (String) -> Void = { text in
                notes.withLock { $0.append(text) }
                if text == "released" { continuation.resume() }
            }
            for command in commands(note) { thread.send(command) }
            let isStarted = thread.start { loop in ClosureRole(loop, note) }
            #expect(isStarted)
        }
        return notes.withLock { $0 }
    }

    @Test func `handles commands in order and releases the role`() async {
        let notes = await Self.run { note in
            [{ _ in note("one") }, { _ in note("two") }, { $0.finish() }, { _ in note("too late") }]
        }
        #expect(notes == ["started", "one", "two", "ended", "released"])
    }

    @Test func `fires timers in the order of their deadlines`() async {
        let notes = await Self.run { note in
            [
                { loop in
                    let now = loop.now
                    let last = loop.timer {
                        note("last")
                        loop.finish()
                    }
                    let first = loop.timer { note("first") }
                    let never = loop.timer { note("never") }
                    let moved = loop.timer { note("moved") }
                    last.set(now + .milliseconds(40))
                    moved.set(now)
                    first.set(now + .milliseconds(1))
                    never.set(now + .milliseconds(2))
                    never.set(nil)
                    moved.set(now + .milliseconds(20))
                }
            ]
        }
        #expect(notes == ["started", "first", "moved", "last", "ended", "released"])
    }

    @Test func `timers that are due together fire in the order of their deadlines, unless one of them stops another`()
        async
    {
        let notes = await Self.run { note in
            [
                { loop in
                    let now = loop.now
                    // More than a dictionary would keep in order by chance.
                    let timers = (0..<16).map { number in loop.timer { note("\(number)") } }
                    let stopped = loop.timer { note("stopped") }
                    let stopping = loop.timer { stopped.set(nil) }
                    let last = loop.timer { loop.finish() }
                    for (number, timer) in timers.enumerated() { timer.set(now - .milliseconds(100 - number)) }
                    stopping.set(now - .milliseconds(50))
                    stopped.set(now - .milliseconds(40))
                    last.set(now - .milliseconds(30))
                }
            ]
        }
        #expect(notes == ["started"] + (0..<16).map { "\($0)" } + ["ended", "released"])
    }

    @Test func `a timer can set itself again`() async {
        let notes = await Self.run { note in
            [
                { loop in
                    let own = OwnTimer()
                    own.timer = loop.timer {
                        note("fired")
                        own.count += 1
                        if own.count < 3 {
                            own.timer?.set(loop.now + .milliseconds(1))
                        } else {
                            own.timer = nil
                            loop.finish()
                        }
                    }
                    own.timer?.set(loop.now)
                }
            ]
        }
        #expect(notes == ["started", "fired", "fired", "fired", "ended", "released"])
    }

    @Test func `finds the loopback interface of this machine`() async throws {
        let thread = DiscoveryThread<Never>(name: "test")
        let table = await withCheckedContinuation { continuation in
            let isStarted = thread.start { loop in AddressRole(loop) { continuation.resume(returning: $0) } }
            #expect(isStarted)
        }
        #expect(table.name(of: 1) == "lo")
        #expect(table.isLoopback(1))
        #expect(table.usable.contains(try Fixture.local(1, "127.0.0.1", 8)))
    }
}

/// A reference to a timer for use in its own handler.
private final class OwnTimer {
    var timer: DiscoveryTimer?
    var count = 0
}
