import Glibc
import LoopIO
import Testing

@Suite(.timeLimit(.minutes(5))) struct EventLoopTests {
    /// An actor on a loop, like the daemon.
    private actor Counter {
        private nonisolated let loop: EventLoop
        private(set) var count = 0
        private(set) var callbacks: [Int] = []
        private var source: EventSource?

        init(loop: EventLoop) { self.loop = loop }

        nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

        func add() -> Bool {
            count += 1
            return loop.isOwned
        }

        nonisolated func addFromCallback(_ number: Int) {
            assumeIsolated { $0.callbacks.append(number) }
        }

        /// A handler created in the actor accesses its state without a hop.
        func watch(_ descriptor: Int32, until count: Int) async -> [Int] {
            await withCheckedContinuation { continuation in
                do throws(Errno) {
                    source = try loop.watch(descriptor, .readable) { [unowned self] _ in
                        callbacks.append(readNow(descriptor)?.count ?? -1)
                        guard callbacks.count == count else { return }
                        source = nil
                        continuation.resume(returning: callbacks)
                    }
                } catch {
                    Issue.record(error)
                }
            }
        }
    }

    @Test func `jobs of an actor run on the loop`() async throws {
        let thread = try LoopThread(name: "test")
        let counter = Counter(loop: thread.loop)
        for _ in 0..<1_000 {
            let isOnLoop = await counter.add()
            #expect(isOnLoop)
        }
        #expect(await counter.count == 1_000)
        thread.stop()
    }

    @Test func `jobs of several actors share one thread`() async throws {
        let thread = try LoopThread(name: "test")
        let counters = (0..<4).map { _ in Counter(loop: thread.loop) }
        await withTaskGroup(of: Bool.self) { group in
            for index in 0..<400 {
                group.addTask { await counters[index % 4].add() }
            }
            for await isOnLoop in group { #expect(isOnLoop) }
        }
        for counter in counters { #expect(await counter.count == 100) }
        thread.stop()
    }

    @Test func `a callback on the loop can assume the actor's isolation`() async throws {
        let thread = try LoopThread(name: "test")
        let counter = Counter(loop: thread.loop)
        await withCheckedContinuation { continuation in
            thread.loop.perform {
                counter.addFromCallback(1)
                continuation.resume()
            }
        }
        #expect(await counter.callbacks == [1])
        thread.stop()
    }

    @Test func `assuming isolation elsewhere traps`() async {
        await #expect(processExitsWith: .failure) {
            let thread = try LoopThread(name: "test")
            Counter(loop: thread.loop).addFromCallback(1)
        }
    }

    @Test func `a handler created in an actor is isolated to it`() async throws {
        let thread = try LoopThread(name: "test")
        let pair = try Ends.sockets()
        let raw = pair.first
        let counter = Counter(loop: thread.loop)
        async let result = counter.watch(raw, until: 1)
        writeNow([1, 2, 3], to: pair.second)
        #expect(await result == [3])
        thread.stop()
    }

    @Test(arguments: [false, true])
    func `work runs in the order of submission`(isDirect: Bool) throws {
        let loop = try EventLoop(isDirect: isDirect)
        let order = Locked<[Int]>([])
        for number in 0..<100 {
            loop.perform { order.withLock { $0.append(number) } }
        }
        loop.perform { loop.stop() }
        try loop.runUntilStopped()
        #expect(order.withLock { $0 } == Array(0..<100))
    }

    @Test(arguments: [false, true])
    func `work submitted before the stop runs`(isDirect: Bool) throws {
        let loop = try EventLoop(isDirect: isDirect)
        let order = Locked<[Int]>([])
        loop.perform {
            // As another thread may do at the same time.
            loop.perform { order.withLock { $0.append(1) } }
            loop.perform { order.withLock { $0.append(2) } }
            loop.stop()
        }
        try loop.runUntilStopped()
        #expect(order.withLock { $0 } == [1, 2])
    }

    @Test(arguments: [false, true])
    func `later runs after this handler and before the next`(isDirect: Bool) throws {
        let loop = try EventLoop(isDirect: isDirect)
        let ends = try Ends.sockets()
        var order: [String] = []
        let source = try loop.watch(ends.first, .readable) { _ in
            order.append("handler")
            loop.later { order.append("later") }
            loop.later { order.append("even later") }
            order.append("end")
            if order.count > 4 { loop.stop() }
        }
        writeNow([1], to: ends.second)
        try loop.runUntilStopped()
        let once = ["handler", "end", "later", "even later"]
        #expect(order == once + once)
        source.cancel()
    }

    @Test(arguments: [false, true])
    func `work that defers work does not starve descriptors`(isDirect: Bool) throws {
        let loop = try EventLoop(isDirect: isDirect)
        let ends = try Ends.sockets()
        var rounds = 0
        func busy() {
            rounds += 1
            if rounds < 1_000_000 { loop.later { busy() } } else { loop.stop() }
        }
        let source = try loop.watch(ends.first, .readable) { _ in
            #expect(rounds < 100)
            rounds = 1_000_000
        }
        writeNow([1], to: ends.second)
        busy()
        try loop.runUntilStopped()
        source.cancel()
    }

    @Test(arguments: [false, true])
    func `work of other threads keeps the order of each thread`(isDirect: Bool) throws {
        let loop = try EventLoop(isDirect: isDirect)
        let order = Locked<[(thread: Int, number: Int)]>([])
        let done = Locked(0)
        let threads = try (0..<4).map { name in
            try OwnedThread(name: "sender") {
                for number in 0..<2_000 {
                    loop.perform { order.withLock { $0.append((name, number)) } }
                }
                loop.perform {
                    let count = done.withLock { done in
                        done += 1
                        return done
                    }
                    if count == 4 { loop.stop() }
                }
            }
        }
        try loop.runUntilStopped()
        for thread in threads { thread.join() }
        let all = order.withLock { $0 }
        #expect(all.count == 8_000)
        for name in 0..<4 {
            #expect(all.filter { $0.thread == name }.map(\.number) == Array(0..<2_000))
        }
    }

    @Test(arguments: [false, true])
    func `a waiting loop is woken for work of another thread`(isDirect: Bool) throws {
        let loop = try EventLoop(isDirect: isDirect)
        let turns = Locked(0)
        // Each side waits for the other. A lost wake-up stops the exchange.
        let thread = try LoopThread(name: "other")
        @Sendable func ping() {
            let turn = turns.withLock { turns in
                turns += 1
                return turns
            }
            if turn == 2_000 { return loop.stop() }
            thread.loop.perform { loop.perform { ping() } }
        }
        loop.perform { ping() }
        try loop.runUntilStopped()
        thread.stop()
        #expect(turns.withLock { $0 } == 2_000)
    }

    @Test(arguments: [false, true])
    func `work that adds work does not starve descriptors`(isDirect: Bool) throws {
        let loop = try EventLoop(isDirect: isDirect)
        let pair = try Ends.sockets()
        let rounds = Locked(0)
        @Sendable func busy() {
            let round = rounds.withLock { rounds in
                rounds += 1
                return rounds
            }
            if round < 1_000_000 { loop.perform { busy() } } else { loop.stop() }
        }
        let source = try loop.watch(pair.first, .readable) { _ in loop.stop() }
        writeNow([1], to: pair.second)
        busy()
        try loop.runUntilStopped()
        source.cancel()
        #expect(rounds.withLock { $0 } < 100)
        // Pending work in the inbox retains the loop: end it.
        rounds.withLock { $0 = 1_000_000 }
        try loop.run()
    }

    @Test(arguments: [false, true])
    func `stop from another thread stops a waiting loop`(isDirect: Bool) throws {
        let loop = try EventLoop(isDirect: isDirect)
        let thread = try OwnedThread(name: "stopper") { loop.stop() }
        try loop.runUntilStopped()
        thread.join()
    }

    @Test(arguments: [false, true])
    func `a stop before run is not lost`(isDirect: Bool) throws {
        let loop = try EventLoop(isDirect: isDirect)
        loop.stop()
        try loop.runUntilStopped()
    }

    @Test(arguments: [false, true])
    func `a stopped loop runs again`(isDirect: Bool) throws {
        let loop = try EventLoop(isDirect: isDirect)
        let count = Locked(0)
        for round in 1...3 {
            loop.perform {
                count.withLock { $0 += 1 }
                loop.stop()
            }
            try loop.runUntilStopped()
            #expect(count.withLock { $0 } == round)
        }
    }

    @Test(arguments: [false, true])
    func `the owner is the thread inside run`(isDirect: Bool) throws {
        let loop = try EventLoop(isDirect: isDirect)
        #expect(loop.isOwned)
        #expect(loop.isIsolatingCurrentContext() == true)
        let seen = Locked<[Bool]>([])
        let thread = try OwnedThread(name: "runner") {
            seen.withLock { $0.append(loop.isOwned) }
            loop.perform { seen.withLock { $0.append(loop.isOwned) } }
            loop.perform { loop.stop() }
            do { try loop.run() } catch { Issue.record(error) }
        }
        thread.join()
        #expect(seen.withLock { $0 } == [false, true])
        #expect(!loop.isOwned)
    }

    @Test func `a released loop closes its descriptors`() throws {
        weak var freed: EventLoop?
        do {
            let loop = try EventLoop()
            freed = loop
            let pair = try Ends.sockets()
            let source = try loop.watch(pair.first, .readable) { _ in }
            let timer = loop.timer(after: .seconds(100)) {}
            loop.perform { loop.stop() }
            try loop.runUntilStopped()
            source.cancel()
            timer.cancel()
        }
        #expect(freed == nil)
    }
}
