import Glibc

/// A thread for work that may block (file sync, name lookups, key derivation). Items run in order,
/// one at a time.
package final class Worker: Sendable {
    private struct State {
        var work: [@Sendable () -> Void] = []
        var isStopping = false
    }

    /// The pending work, with a condition variable for the thread, which the `Mutex` of `Locked`
    /// does not have.
    ///
    /// Unchecked: `state` is accessed only while `lock` is held. A condition variable is made for
    /// several threads.
    private final class Queue: @unchecked Sendable {
        private let lock = PthreadLock()
        private let condition: UnsafeMutablePointer<pthread_cond_t>
        private var state = State()

        init() {
            condition = .allocate(capacity: 1)
            // Cannot fail with default attributes on Linux.
            pthread_cond_init(condition, nil)
        }

        deinit {
            pthread_cond_destroy(condition)
            condition.deallocate()
        }

        func add(_ work: @escaping @Sendable () -> Void) {
            lock.lock()
            defer { lock.unlock() }
            state.work.append(work)
            pthread_cond_signal(condition)
        }

        func stop() {
            lock.lock()
            defer { lock.unlock() }
            state.isStopping = true
            pthread_cond_signal(condition)
        }

        /// Waits for work. Returns nil after `stop` if no work is left.
        func next() -> [@Sendable () -> Void]? {
            lock.lock()
            defer { lock.unlock() }
            while state.work.isEmpty {
                if state.isStopping { return nil }
                pthread_cond_wait(condition, lock.pointer)
            }
            let work = state.work
            state.work = []
            return work
        }
    }

    private let queue: Queue
    private let thread: OwnedThread

    /// Starts the thread.
    package init(name: String = "worker") throws(Errno) {
        let queue = Queue()
        self.queue = queue
        thread = try OwnedThread(name: name) {
            while let batch = queue.next() {
                for work in batch { work() }
            }
        }
    }

    deinit {
        queue.stop()
    }

    /// Runs `work` on the worker's thread, then calls `completion` on the loop's thread.
    ///
    /// Call it on the loop. The completion may use anything that belongs to the loop, and is
    /// released there.
    package func run<Value: Sendable>(
        _ work: @escaping @Sendable () throws -> Value, on loop: EventLoop,
        completion: @escaping (Result<Value, any Error>) -> Void
    ) {
        loop.assertOwned()
        loop.pendingResults += 1
        // The worker holds only the box, which is emptied on the loop. The closure's captures are
        // therefore never released on the worker.
        let box = LoopBound<((Result<Value, any Error>) -> Void)?>(completion, on: loop)
        queue.add {
            let result = Result { try work() }
            loop.perform {
                loop.pendingResults -= 1
                let completion = box.value.take()
                completion?(result)
            }
        }
    }

    /// Runs `work` on the worker's thread while the caller is suspended.
    package func run<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            queue.add { continuation.resume(with: Result { try work() }) }
        }
    }

    /// Runs the work that was submitted so far, ends the thread and waits for it. Work submitted
    /// later never runs.
    package func stop() {
        queue.stop()
        thread.join()
    }
}
