import Glibc

/// One thread that does what may block (file sync, name lookups, key derivation), in order, one piece at a time.
package final class Worker: Sendable {
    private struct State {
        var work: [@Sendable () -> Void] = []
        var isStopping = false
    }

    /// The work that waits, and a condition for the thread, which the `Mutex` of `Locked` has not.
    ///
    /// Unchecked: `state` is only touched with `lock` held; the condition is made for several threads.
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

        /// Waits for work. Returns nil when there is none and no more will come.
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

    /// Does `work` on the worker's thread, then calls `completion` on the loop's.
    ///
    /// Call it on the loop: the completion may touch what belongs to the loop and is released there.
    package func run<Value: Sendable>(
        _ work: @escaping @Sendable () throws -> Value, on loop: EventLoop,
        completion: @escaping (Result<Value, any Error>) -> Void
    ) {
        loop.assertOwned()
        // The worker holds the box only, which is emptied on the loop: what the closure owns is never released on the worker.
        let box = LoopBound<((Result<Value, any Error>) -> Void)?>(completion, on: loop)
        queue.add {
            let result = Result { try work() }
            loop.perform {
                let completion = box.value.take()
                completion?(result)
            }
        }
    }

    /// Does `work` on the worker's thread while the caller is suspended.
    package func run<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            queue.add { continuation.resume(with: Result { try work() }) }
        }
    }

    /// Does what was asked for so far, then ends the thread and waits for it. Later work is not done.
    package func stop() {
        queue.stop()
        thread.join()
    }
}
