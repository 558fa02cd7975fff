package import HandoffModel

/// One continuation on the device that continues: from the user's choice to the one outcome.
///
/// Exactly one of `.deliver` and `.tellDidFail` follows each `.tellWillContinue`, and exactly one of `.finish` and
/// `.fail` answers the caller, whatever happens and in whatever order. Diagram: `docs/state-machines/continuation.md`.
package struct ContinuationMachine: Sendable {
    /// Who takes the activity over.
    package enum Taker: Equatable, Sendable {
        /// The program that asked for the continuation is itself the handler (`continue --print`).
        case caller
        /// An attached app that declared the type.
        case handler
    }

    /// What the driver is to do, in order.
    package enum Action: Equatable, Sendable {
        /// Tell the taker the type of what is coming, before any data.
        case tellWillContinue
        /// Ask the origin for the payload.
        case fetch
        /// Give the payload to the handler, and await whether it took over.
        case deliver(ActivityContent)
        /// Tell the handler that nothing will come.
        case tellDidFail(HandoffFailure)
        /// Tell the origin that its activity was continued here.
        case tellOrigin
        /// Answer the caller: done. The content is the caller's only when it is the taker.
        case finish(ActivityContent)
        /// Answer the caller: it failed.
        case fail(HandoffFailure)
    }

    private enum State {
        /// The state until the driver begins.
        case idle
        /// The state while the origin is asked for the payload.
        case fetching
        /// The state while the handler holds the payload and has not yet said whether it took over.
        case deciding(ActivityContent)
        /// The state once the outcome is known.
        case ended
    }

    /// Who takes the activity over.
    package let taker: Taker
    private var state = State.idle
    private var callerListens = true

    /// A continuation that has not begun.
    package init(taker: Taker) {
        self.taker = taker
    }

    /// Whether the outcome is known.
    package var hasEnded: Bool {
        if case .ended = state { return true }
        return false
    }

    /// The user chose the activity.
    package mutating func begin() -> [Action] {
        switch state {
        case .idle:
            state = .fetching
            return [.tellWillContinue, .fetch]
        case .fetching, .deciding, .ended:
            return []
        }
    }

    /// The payload came from the origin.
    package mutating func receivedContent(_ content: ActivityContent) -> [Action] {
        switch state {
        case .fetching:
            switch taker {
            case .caller:
                state = .ended
                return [.finish(content), .tellOrigin]
            case .handler:
                state = .deciding(content)
                return [.deliver(content)]
            }
        case .idle, .deciding, .ended:
            return []
        }
    }

    /// The payload will not come: the origin refused, is gone, or the user cancelled.
    package mutating func fetchFailed(_ failure: HandoffFailure) -> [Action] {
        switch state {
        case .fetching:
            return end(with: failure, handlerAwaits: true)
        case .idle, .deciding, .ended:
            return []
        }
    }

    /// The handler said whether it took the activity over.
    package mutating func answered(handled: Bool, refusal: HandoffFailure) -> [Action] {
        switch state {
        case .deciding(let content):
            guard handled else { return end(with: refusal, handlerAwaits: false) }
            state = .ended
            return (callerListens ? [.finish(content)] : []) + [.tellOrigin]
        case .idle, .fetching, .ended:
            return []
        }
    }

    /// The handler's connection ended.
    package mutating func handlerGone(_ failure: HandoffFailure) -> [Action] {
        switch state {
        case .fetching, .deciding:
            return end(with: failure, handlerAwaits: false)
        case .idle, .ended:
            return []
        }
    }

    /// The time that the whole continuation may take is over.
    package mutating func deadlinePassed(_ failure: HandoffFailure) -> [Action] {
        switch state {
        case .fetching:
            return end(with: failure, handlerAwaits: true)
        case .deciding:
            return end(with: failure, handlerAwaits: false)
        case .idle, .ended:
            return []
        }
    }

    /// The origin is no member any more: what it says, or said, is void.
    package mutating func originRemoved(_ failure: HandoffFailure) -> [Action] {
        // As when the time is over: who was told that something comes is told that nothing does.
        deadlinePassed(failure)
    }

    /// The caller's connection ended: a continuation whose payload has not come yet is cancelled.
    package mutating func callerGone(_ cancelled: HandoffFailure) -> [Action] {
        callerListens = false
        switch state {
        case .fetching:
            return end(with: cancelled, handlerAwaits: true)
        case .idle, .deciding, .ended:
            // A handler that holds the payload may still take it over; the origin is then told as usual.
            return []
        }
    }

    private mutating func end(with failure: HandoffFailure, handlerAwaits: Bool) -> [Action] {
        state = .ended
        var actions: [Action] = []
        if handlerAwaits, taker == .handler { actions.append(.tellDidFail(failure)) }
        if callerListens { actions.append(.fail(failure)) }
        return actions
    }
}
