import Glibc
import LoopIO
import Testing

@Suite(.timeLimit(.minutes(5))) struct WorkerTests {
    private struct Failure: Error {}

    @Test func `works on another thread and completes on the loop`() throws {
        let loop = try EventLoop()
        let worker = try Worker()
        let loopThread = UInt(pthread_self())
        var result: UInt?
        worker.run({ UInt(pthread_self()) }, on: loop) { outcome in
            #expect(loop.isOwned)
            result = try? outcome.get()
            loop.stop()
        }
        #expect(result == nil)
        try loop.runUntilStopped()
        #expect(try #require(result) != loopThread)
        worker.stop()
    }

    @Test func `errors arrive as results`() throws {
        let loop = try EventLoop()
        let worker = try Worker()
        var isFailure = false
        worker.run({ throw Failure() }, on: loop) { (outcome: Result<Int, any Error>) in
            if case .failure(let error) = outcome { isFailure = error is Failure }
            loop.stop()
        }
        try loop.runUntilStopped()
        #expect(isFailure)
        worker.stop()
    }

    @Test func `works in order one item at a time`() throws {
        let loop = try EventLoop()
        let worker = try Worker()
        let running = Locked(0)
        var completed: [Int] = []
        for number in 0..<500 {
            worker.run(
                {
                    running.withLock { running in
                        running += 1
                        #expect(running == 1)
                    }
                    running.withLock { $0 -= 1 }
                    return number
                }, on: loop
            ) { outcome in
                completed.append((try? outcome.get()) ?? -1)
                if completed.count == 500 { loop.stop() }
            }
        }
        try loop.runUntilStopped()
        #expect(completed == Array(0..<500))
        worker.stop()
    }

    @Test func `stopping runs the work submitted before`() throws {
        let loop = try EventLoop()
        let worker = try Worker()
        let count = Locked(0)
        for _ in 0..<100 {
            worker.run({ count.withLock { $0 += 1 } }, on: loop) { _ in }
        }
        worker.stop()
        #expect(count.withLock { $0 } == 100)
    }

    @Test func `a suspended caller gets the result`() async throws {
        let worker = try Worker()
        #expect(try await worker.run { 6 * 7 } == 42)
        await #expect(throws: Failure.self) { try await worker.run { throw Failure() } }
        worker.stop()
    }

    /// Records on which thread it was released.
    private final class Witness {
        private let released: Locked<Bool?>
        private let loop: EventLoop

        init(_ released: Locked<Bool?>, _ loop: EventLoop) {
            self.released = released
            self.loop = loop
        }

        deinit {
            let isOwned = loop.isOwned
            released.withLock { $0 = isOwned }
        }
    }

    private func holding(_ witness: Witness, _ body: @escaping () -> Void) -> (Result<Void, any Error>) -> Void {
        { _ in withExtendedLifetime(witness) { body() } }
    }

    @Test func `the completion is released on the loop`() throws {
        let loop = try EventLoop()
        let worker = try Worker()
        let released = Locked<Bool?>(nil)
        for _ in 0..<200 {
            released.withLock { $0 = nil }
            // Only the completion retains the witness.
            worker.run({}, on: loop, completion: holding(Witness(released, loop)) { loop.stop() })
            try loop.runUntilStopped()
            #expect(released.withLock { $0 } == true)
        }
        worker.stop()
    }
}

struct LockedTests {
    @Test func `threads do not lose each other's changes`() throws {
        let value = Locked([Int]())
        let threads = try (0..<4).map { _ in
            try OwnedThread(name: "adder") {
                for number in 0..<5_000 { value.withLock { $0.append(number) } }
            }
        }
        for thread in threads { thread.join() }
        #expect(value.withLock { $0.count } == 20_000)
    }

    @Test func `an error releases the lock`() {
        let value = Locked(1)
        #expect(throws: Errno.cancelled) { try value.withLock { _ throws(Errno) in throw .cancelled } }
        #expect(value.withLock { $0 } == 1)
    }

    @Test func `a thread's name is shown`() throws {
        let name = Locked("")
        let thread = try OwnedThread(name: "a-name-of-more-than-15") {
            let file = open("/proc/thread-self/comm", O_RDONLY)
            var buffer = [UInt8](repeating: 0, count: 16)
            let count = read(file, &buffer, buffer.count)
            close(file)
            let text = String(decoding: buffer.prefix(max(0, count - 1)), as: UTF8.self)
            name.withLock { $0 = text }
        }
        thread.join()
        thread.join()
        #expect(name.withLock { $0 } == "a-name-of-more-")
    }

    @Test func `a thread of low priority does not affect other threads`() throws {
        let before = getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0)
        let lowered = Locked<Int32>(0)
        let kept = Locked<Int32>(0)
        let niceness = max(before, ThreadPriority.bulk)
        try OwnedThread(name: "low", niceness: ThreadPriority.bulk) {
            lowered.withLock { $0 = getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0) }
        }.join()
        try OwnedThread(name: "normal") {
            kept.withLock { $0 = getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0) }
        }.join()
        #expect(lowered.withLock { $0 } == niceness)
        #expect(kept.withLock { $0 } == before)
        #expect(getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0) == before)
        let thread = try LoopThread(name: "low loop", niceness: ThreadPriority.bulk)
        thread.loop.perform {
            lowered.withLock { $0 = getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0) + 100 }
            thread.loop.stop()
        }
        thread.stop()
        #expect(lowered.withLock { $0 } == niceness + 100)
    }
}
