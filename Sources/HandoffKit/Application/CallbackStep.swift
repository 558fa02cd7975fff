import Dispatch

/// A call into the app, and the queue that it belongs to.
enum CallbackStep: Sendable {
    /// Nonisolated code, for the callback queue.
    case callbackQueue(@Sendable () -> Void)
    /// Code with its own queue.
    case queue(DispatchQueue, @Sendable () -> Void)
    /// Code that is isolated to the main actor.
    case mainActor(@MainActor @Sendable () -> Void)
}

extension HandoffApplication {
    /// Runs the steps in order, each on its queue, after all callbacks queued before.
    func callback(_ steps: [CallbackStep]) {
        callback { $0.run(steps[...]) }
    }

    /// Runs the steps in order, starting immediately. On the callback queue.
    func run(_ steps: ArraySlice<CallbackStep>) {
        var rest = steps
        while let step = rest.popFirst() {
            switch step {
            case .callbackQueue(let body): body()
            case .queue(let queue, let body) where queue === callbackQueue: body()
            case .queue(let queue, let body): return dispatch(to: queue, body, rest)
            case .mainActor(let body) where MainQueue.isCurrent: MainActor.assumeIsolated(body)
            case .mainActor(let body): return dispatch(to: .main, { MainActor.assumeIsolated(body) }, rest)
            }
        }
    }

    /// Runs a step on another queue, then the rest.
    private func dispatch(
        to queue: DispatchQueue, _ body: @escaping @Sendable () -> Void, _ rest: ArraySlice<CallbackStep>
    ) {
        if MainQueue.isMain(queue) { usesMainQueue() }
        queue.async {
            body()
            if !rest.isEmpty { self.callback { $0.run(rest) } }
        }
    }
}

/// The main queue, on any thread that services it.
enum MainQueue {
    private static let label = DispatchQueue.main.label

    /// Returns whether a queue is the main queue. Each access to `DispatchQueue.main` returns a
    /// different object.
    static func isMain(_ queue: DispatchQueue) -> Bool { queue.label == label }

    private static let key: DispatchSpecificKey<Void> = {
        let key = DispatchSpecificKey<Void>()
        DispatchQueue.main.setSpecific(key: key, value: ())
        return key
    }()

    static var isCurrent: Bool { DispatchQueue.getSpecific(key: key) != nil }
}
