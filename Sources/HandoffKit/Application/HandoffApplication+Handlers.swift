public import Dispatch
import Foundation

/// Handlers and sequences, which take activities of a type instead of the delegate.
extension HandoffApplication {
    /// The handlers of a type.
    struct Handlers {
        var willContinue: Handler<Void>?
        var `continue`: Handler<NSUserActivity>?
        var fail: Handler<any Error>?
    }

    /// Has a handler called as the main actor, instead of the delegate, when an activity of a type is on its way. Declares the type,
    /// and connects.
    public func onWillContinue(_ activityType: String, perform handler: @escaping @MainActor () -> Void) {
        register(activityType) { $0.willContinue = .mainActor(handler) }
    }

    /// Has a handler called as the main actor, instead of the delegate, with each activity of a type, which then counts as taken over.
    /// Declares the type, and connects.
    public func onContinue(_ activityType: String, perform handler: @escaping @MainActor (NSUserActivity) -> Void) {
        register(activityType) { $0.continue = .mainActor(handler) }
    }

    /// Has a handler called as the main actor, instead of the delegate, when an activity of a type that was announced does not come.
    /// Declares the type, and connects.
    public func onFail(_ activityType: String, perform handler: @escaping @MainActor (any Error) -> Void) {
        register(activityType) { $0.fail = .mainActor(handler) }
    }

    /// Has a handler called on a queue, instead of the delegate, when an activity of a type is on its way. Declares the type, and
    /// connects.
    public func onWillContinue(
        _ activityType: String, queue: DispatchQueue, perform handler: @escaping @Sendable () -> Void
    ) {
        register(activityType) { $0.willContinue = .queue(queue, handler) }
    }

    /// Has a handler called on a queue, instead of the delegate, with each activity of a type, which then counts as taken over.
    /// Declares the type, and connects.
    public func onContinue(
        _ activityType: String, queue: DispatchQueue, perform handler: @escaping @Sendable (NSUserActivity) -> Void
    ) {
        register(activityType) { $0.continue = .queue(queue, handler) }
    }

    /// Has a handler called on a queue, instead of the delegate, when an activity of a type that was announced does not come.
    /// Declares the type, and connects.
    public func onFail(
        _ activityType: String, queue: DispatchQueue, perform handler: @escaping @Sendable (any Error) -> Void
    ) {
        register(activityType) { $0.fail = .queue(queue, handler) }
    }

    /// Removes the handlers of a type of activities, which then is the delegate's. Sequences of ``continuations(of:)`` stay. The type is
    /// declared no more unless it is one of the ``activityTypes``.
    public func removeHandlers(_ activityType: String) {
        let former = lock.withLock {
            (handlers: handlers.removeValue(forKey: activityType), isConnected: connection != nil)
        }
        withExtendedLifetime(former) {}
        if former.handlers != nil, former.isConnected { start() }
    }

    /// The activities of a type that are continued here, for `for await`, as they come, instead of the delegate; they count as taken over. Those that
    /// come while nobody asks for the next one wait. Declares the type, and connects; once the sequence is let go of, or its task is
    /// cancelled, the type is the delegate's again. A handler of `onContinue` goes before it.
    ///
    /// Several sequences of one type get each activity.
    public func continuations(of activityType: String) -> AsyncStream<NSUserActivity> {
        let id = UUID()
        let (stream, continuation) = AsyncStream.makeStream(of: NSUserActivity.self)
        continuation.onTermination = { [weak self] _ in self?.ended(activityType, id) }
        lock.withLock { listeners[activityType, default: [:]][id] = continuation }
        start()
        return stream
    }

    private func ended(_ type: String, _ listener: UUID) {
        // Ends after the lock: what it holds may come back here.
        let former = lock.withLock {
            let former = listeners[type]?.removeValue(forKey: listener)
            if listeners[type]?.isEmpty == true { listeners[type] = nil }
            return (former, isConnected: connection != nil)
        }
        if former.isConnected { start() }
    }

    private func register(_ type: String, _ set: (inout Handlers) -> Void) {
        let former = lock.withLock {
            let former = handlers[type]
            set(&handlers[type, default: Handlers()])
            return former
        }
        withExtendedLifetime(former) {}
        start()
    }

    func handlers(for type: String) -> Handlers {
        lock.withLock { handlers[type] } ?? Handlers()
    }

    /// What has to be called for a handler, or else the sequences, to get an activity; nil where it is the delegate's.
    func handling(
        _ activity: NSUserActivity, answer: @escaping @Sendable (Bool) -> Void
    ) -> [CallbackStep]? {
        let type = activity.activityType
        if let handler = handlers(for: type).continue {
            return [handler.step(activity), .callbackQueue { answer(true) }]
        }
        guard let listeners = lock.withLock({ self.listeners[type] }) else { return nil }
        return [
            .callbackQueue {
                // A sequence may end in this very moment.
                var isTaken = false
                for listener in listeners.values {
                    if case .enqueued = listener.yield(activity) { isTaken = true }
                }
                answer(isTaken)
            }
        ]
    }
}

/// A handler of the app.
enum Handler<Value: Sendable>: Sendable {
    /// One of the main actor.
    case mainActor(@MainActor @Sendable (Value) -> Void)
    /// One of no actor, and the queue on which it is called.
    case queue(DispatchQueue, @Sendable (Value) -> Void)

    /// What has to be called for it to get a value.
    func step(_ value: Value) -> CallbackStep {
        switch self {
        case .mainActor(let handler): .mainActor { handler(value) }
        case .queue(let queue, let handler): .queue(queue) { handler(value) }
        }
    }
}
