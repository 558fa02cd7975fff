import Dispatch

/// Something of the app that is called, and where.
enum CallbackStep: Sendable {
    /// What belongs to no actor.
    case callbackQueue(@Sendable () -> Void)
    /// What has a queue of its own.
    case queue(DispatchQueue, @Sendable () -> Void)
    /// What belongs to the main actor.
    case mainActor(@MainActor @Sendable () -> Void)
}

extension HandoffApplication {
    /// Calls one step after the other, each where it belongs, after everything that was to be called before.
    func callback(_ steps: [CallbackStep]) {
        callback { $0.run(steps[...]) }
    }

    /// Calls one step after the other, beginning at once. On the callback queue.
    func run(_ steps: ArraySlice<CallbackStep>) {
        var rest = steps
        while let step = rest.popFirst() {
            switch step {
            case .callbackQueue(let body): body()
            case .queue(let queue, let body) where queue === callbackQueue: body()
            case .queue(let queue, let body): return leave(to: queue, body, rest)
            case .mainActor(let body) where MainQueue.isCurrent: MainActor.assumeIsolated(body)
            case .mainActor(let body): return leave(to: .main, { MainActor.assumeIsolated(body) }, rest)
            }
        }
    }

    /// Calls a step on another queue, and the others afterwards.
    private func leave(
        to queue: DispatchQueue, _ body: @escaping @Sendable () -> Void, _ rest: ArraySlice<CallbackStep>
    ) {
        if MainQueue.isMain(queue) { usesMainQueue() }
        queue.async {
            body()
            if !rest.isEmpty { self.callback { $0.run(rest) } }
        }
    }
}

/// The main queue, whichever thread serves it.
enum MainQueue {
    private static let label = DispatchQueue.main.label

    /// Whether this is it: `DispatchQueue.main` is another object each time.
    static func isMain(_ queue: DispatchQueue) -> Bool { queue.label == label }

    private static let key: DispatchSpecificKey<Void> = {
        let key = DispatchSpecificKey<Void>()
        DispatchQueue.main.setSpecific(key: key, value: ())
        return key
    }()

    /// Whether this is called on it.
    static var isCurrent: Bool { DispatchQueue.getSpecific(key: key) != nil }
}
