import LoopIO
import Testing

@Suite(.timeLimit(.minutes(5))) struct LoopBoundTests {
    /// State that only the loop's thread may access.
    private final class Counter {
        var count = 0
    }

    @Test func `a value that another thread created is changed on the loop`() throws {
        let thread = try LoopThread(name: "bound")
        let counter = LoopBound(sending: Counter(), to: thread.loop)
        let seen = Locked(0)
        for _ in 0..<100 { thread.loop.perform { counter.value.count += 1 } }
        thread.loop.perform {
            let count = counter.value.count
            seen.withLock { $0 = count }
        }
        thread.stop()
        #expect(seen.withLock { $0 } == 100)
    }

    @Test func `pending work in the inbox does not retain the loop`() throws {
        weak var former: EventLoop?
        do {
            let loop = try EventLoop()
            former = loop
            let value = LoopBound(1, on: loop)
            loop.perform { value.value = 2 }
        }
        #expect(former == nil)
    }

    @Test func `another thread may not access the value while the loop runs`() async {
        await #expect(processExitsWith: .failure) {
            let thread = try LoopThread(name: "bound")
            let value = LoopBound(sending: 1, to: thread.loop)
            let isRunning = Locked(false)
            thread.loop.perform { isRunning.withLock { $0 = true } }
            while !isRunning.withLock({ $0 }) {}
            _ = value.value
        }
    }
}
