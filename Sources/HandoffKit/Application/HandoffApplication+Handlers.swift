public import Dispatch
import Foundation

/// Handlers and sequences, which receive activities of a type in place of the delegate.
extension HandoffApplication {
    struct Handlers {
        var willContinue: Handler<Void>?
        var `continue`: Handler<NSUserActivity>?
        var fail: Handler<any Error>?
    }

    /// Sets a main-actor handler that is called, in place of the delegate, when an activity of a
    /// type is about to be continued. Declares the type, and connects.
    public func onWillContinue(_ activityType: String, perform handler: @escaping @MainActor () -> Void) {
        register(activityType) { $0.willContinue = .mainActor(handler) }
    }

    /// Sets a main-actor handler that receives, in place of the delegate, each activity of a type.
    /// The activity counts as handled. Declares the type, and connects.
    public func onContinue(_ activityType: String, perform handler: @escaping @MainActor (NSUserActivity) -> Void) {
        register(activityType) { $0.continue = .mainActor(handler) }
    }

    /// Sets a main-actor handler that is called, in place of the delegate, when an announced
    /// activity of a type fails to arrive. Declares the type, and connects.
    public func onFail(_ activityType: String, perform handler: @escaping @MainActor (any Error) -> Void) {
        register(activityType) { $0.fail = .mainActor(handler) }
    }

    /// Sets a handler that is called on a queue, in place of the delegate, when an activity of a
    /// type is about to be continued. Declares the type, and connects.
    public func onWillContinue(
        _ activityType: String, queue: DispatchQueue, perform handler: @escaping @Sendable () -> Void
    ) {
        register(activityType) { $0.willContinue = .queue(queue, handler) }
    }

    /// Sets a handler that receives on a queue, in place of the delegate, each activity of a type.
    /// The activity counts as handled. Declares the type, and connects.
    public func onContinue(
        _ activityType: String, queue: DispatchQueue, perform handler: @escaping @Sendable (NSUserActivity) -> Void
    ) {
        register(activityType) { $0.continue = .queue(queue, handler) }
    }

    /// Sets a handler that is called on a queue, in place of the delegate, when an announced
    /// activity of a type fails to arrive. Declares the type, and connects.
    public func onFail(
        _ activityType: String, queue: DispatchQueue, perform handler: @escaping @Sendable (any Error) -> Void
    ) {
        register(activityType) { $0.fail = .queue(queue, handler) }
    }

    /// Removes the handlers for a type, so that the delegate receives its activities again.
    /// Sequences from ``continuations(of:)`` stay. The type is no longer declared unless it is one
    /// of the ``activityTypes``.
    public func removeHandlers(_ activityType: String) {
        let former = lock.withLock {
            (handlers: handlers.removeValue(forKey: activityType), isConnected: connection != nil)
        }
        withExtendedLifetime(former) {}
        if former.handlers != nil, former.isConnected { start() }
    }

    /// Returns a sequence of the activities of a type that are continued here, in place of the
    /// delegate. The activities count as handled. They are buffered until the next element is
    /// awaited. Declares the type, and connects. When the sequence is released or its task is
    /// cancelled, the delegate receives the type again. An `onContinue` handler takes precedence.
    ///
    /// If there are several sequences for one type, each receives every activity.
    public func continuations(of activityType: String) -> AsyncStream<NSUserActivity> {
        let id = UUID()
        let (stream, continuation) = AsyncStream.makeStream(of: NSUserActivity.self)
        continuation.onTermination = { [weak self] _ in self?.ended(activityType, id) }
        lock.withLock { listeners[activityType, default: [:]][id] = continuation }
        start()
        return stream
    }

    private func ended(_ type: String, _ listener: UUID) {
        // Released after the lock, because it may call back into this object.
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

    /// Returns the calls that pass an activity to a handler, or otherwise to the sequences. Returns
    /// nil if the delegate handles it.
    func handlerSteps(
        _ activity: NSUserActivity, reply: @escaping @Sendable (Bool) -> Void
    ) -> [CallbackStep]? {
        let type = activity.activityType
        if let handler = handlers(for: type).continue {
            return [handler.step(activity), .callbackQueue { reply(true) }]
        }
        guard let listeners = lock.withLock({ self.listeners[type] }) else { return nil }
        return [
            .callbackQueue {
                // A sequence may end at the same time.
                var isAccepted = false
                for listener in listeners.values {
                    if case .enqueued = listener.yield(activity) { isAccepted = true }
                }
                reply(isAccepted)
            }
        ]
    }
}

enum Handler<Value: Sendable>: Sendable {
    case mainActor(@MainActor @Sendable (Value) -> Void)
    /// A nonisolated handler, and the queue on which it is called.
    case queue(DispatchQueue, @Sendable (Value) -> Void)

    func step(_ value: Value) -> CallbackStep {
        switch self {
        case .mainActor(let handler): .mainActor { handler(value) }
        case .queue(let queue, let handler): .queue(queue) { handler(value) }
        }
    }
}
