package import HandoffModel

/// One continuation on the device that continues: from the user's choice to the one outcome.
///
/// Exactly one of `.deliver` and `.tellDidFail` follows each `.tellWillContinue`, and exactly one of `.finish` and
/// `.fail` answers the caller, whatever happens and in whatever order. Diagram: `docs/state-machines/continuation.md`.
package struct ContinuationMachine: Sendable {
    /// Who takes the activity over.
    package enum Recipient: Equatable, Sendable {
        /// The program that asked for the continuation is itself the handler (`continue --print`).
        case caller
        /// An attached app that declared the type.
        case handler
        /// An app that is started for it, and becomes the handler once it attaches.
        case started
        /// What the web page decides, once the payload is there.
        case page
    }

    /// What the activity's page led to, in `chose`.
    package enum Choice: Equatable, Sendable {
        /// An attached app.
        case handler
        /// An app that is to be started.
        case launch
        /// The browser.
        case browser
        /// Nothing.
        case nothing(HandoffFailure)
    }

    /// What the driver is to do, in order.
    package enum Action: Equatable, Sendable {
        /// Tell the recipient the type of what is coming, before any data.
        case tellWillContinue
        /// Ask the origin for the payload.
        case fetch
        /// Start the app; it may take its time, and the payload comes meanwhile.
        case launch
        /// Decide by the page who takes it over, and answer with `chose`.
        case choose(ActivityContent)
        /// Give the payload to the handler, and await whether it took over.
        case deliver(ActivityContent)
        /// Open the page in the browser.
        case openPage(ActivityContent)
        /// Tell the handler that nothing will come.
        case tellDidFail(HandoffFailure)
        /// Tell the origin that its activity was continued here.
        case tellOrigin
        /// Answer the caller: done. The content is the caller's only when it is the recipient.
        case finish(ActivityContent)
        /// Answer the caller: it failed.
        case fail(HandoffFailure)
    }

    private enum State {
        /// The state until the driver begins.
        case idle
        /// The state while the origin is asked for the payload.
        case fetching
        /// The state while the driver looks who opens the page.
        case choosing(ActivityContent)
        /// The state while the payload waits for the app that was started.
        case awaitingApp(ActivityContent)
        /// The state while the handler holds the payload and has not yet said whether it took over.
        case deciding(ActivityContent)
        /// The state while the browser is started.
        case opening(ActivityContent)
        /// The state once the outcome is known.
        case ended
    }

    /// Who takes the activity over, as of now.
    package private(set) var recipient: Recipient
    private var state = State.idle
    private var callerListens = true

    /// A continuation that has not begun.
    package init(recipient: Recipient) {
        self.recipient = recipient
    }

    /// Whether the outcome is known.
    package var hasEnded: Bool {
        if case .ended = state { return true }
        return false
    }

    /// Whether an app was started for it that has not attached yet.
    package var awaitsApp: Bool {
        switch state {
        case .fetching, .awaitingApp: recipient == .started
        case .idle, .choosing, .deciding, .opening, .ended: false
        }
    }

    /// Whether the browser is being started.
    package var isOpening: Bool {
        if case .opening = state { return true }
        return false
    }

    /// The user chose the activity.
    package mutating func begin() -> [Action] {
        switch state {
        case .idle:
            state = .fetching
            switch recipient {
            case .caller, .handler: return [.fetch, .tellWillContinue]
            case .started: return [.launch, .fetch]
            case .page: return [.fetch]
            }
        case .fetching, .choosing, .awaitingApp, .deciding, .opening, .ended:
            return []
        }
    }

    /// The payload came from the origin.
    package mutating func receivedContent(_ content: ActivityContent) -> [Action] {
        switch state {
        case .fetching:
            switch recipient {
            case .caller:
                state = .ended
                return [.finish(content), .tellOrigin]
            case .handler:
                state = .deciding(content)
                return [.deliver(content)]
            case .started:
                state = .awaitingApp(content)
                return []
            case .page:
                state = .choosing(content)
                return [.choose(content)]
            }
        case .idle, .choosing, .awaitingApp, .deciding, .opening, .ended:
            return []
        }
    }

    /// The driver looked who opens the page.
    package mutating func chose(_ choice: Choice) -> [Action] {
        switch state {
        case .choosing(let content):
            switch choice {
            case .handler:
                recipient = .handler
                state = .deciding(content)
                return [.tellWillContinue, .deliver(content)]
            case .launch:
                recipient = .started
                state = .awaitingApp(content)
                return [.launch]
            case .browser:
                state = .opening(content)
                return [.openPage(content)]
            case .nothing(let failure):
                return end(with: failure, handlerAwaits: false)
            }
        case .idle, .fetching, .awaitingApp, .deciding, .opening, .ended:
            return []
        }
    }

    /// The app that was started has attached.
    package mutating func attached() -> [Action] {
        switch state {
        case .fetching where recipient == .started:
            recipient = .handler
            return [.tellWillContinue]
        case .awaitingApp(let content):
            recipient = .handler
            state = .deciding(content)
            return [.tellWillContinue, .deliver(content)]
        case .idle, .fetching, .choosing, .deciding, .opening, .ended:
            return []
        }
    }

    /// The app could not be started, or has not attached in its time.
    package mutating func launchFailed(_ failure: HandoffFailure) -> [Action] {
        switch state {
        case .fetching where recipient == .started, .awaitingApp:
            return end(with: failure, handlerAwaits: false)
        case .idle, .fetching, .choosing, .deciding, .opening, .ended:
            return []
        }
    }

    /// The browser has the page.
    package mutating func pageOpened() -> [Action] {
        switch state {
        case .opening(let content):
            state = .ended
            return (callerListens ? [.finish(content)] : []) + [.tellOrigin]
        case .idle, .fetching, .choosing, .awaitingApp, .deciding, .ended:
            return []
        }
    }

    /// The page could not be opened.
    package mutating func pageFailed(_ failure: HandoffFailure) -> [Action] {
        switch state {
        case .opening:
            return end(with: failure, handlerAwaits: false)
        case .idle, .fetching, .choosing, .awaitingApp, .deciding, .ended:
            return []
        }
    }

    /// The payload will not come: the origin refused, is gone, or the user cancelled.
    package mutating func fetchFailed(_ failure: HandoffFailure) -> [Action] {
        switch state {
        case .fetching:
            return end(with: failure, handlerAwaits: true)
        case .idle, .choosing, .awaitingApp, .deciding, .opening, .ended:
            return []
        }
    }

    /// The handler said whether it took the activity over. Where it did not, the page is what is left.
    package mutating func answered(handled: Bool, refusal: HandoffFailure) -> [Action] {
        switch state {
        case .deciding(let content):
            guard !handled else {
                state = .ended
                return (callerListens ? [.finish(content)] : []) + [.tellOrigin]
            }
            // Nobody waits for what would open out of the blue.
            guard content.webpageURL != nil, callerListens else { return end(with: refusal, handlerAwaits: false) }
            state = .opening(content)
            return [.openPage(content)]
        case .idle, .fetching, .choosing, .awaitingApp, .opening, .ended:
            return []
        }
    }

    /// The handler's connection ended.
    package mutating func handlerGone(_ failure: HandoffFailure) -> [Action] {
        switch state {
        case .fetching, .deciding:
            return end(with: failure, handlerAwaits: false)
        case .idle, .choosing, .awaitingApp, .opening, .ended:
            return []
        }
    }

    /// The time that the whole continuation may take is over.
    package mutating func deadlinePassed(_ failure: HandoffFailure) -> [Action] {
        switch state {
        case .fetching:
            return end(with: failure, handlerAwaits: true)
        case .choosing, .awaitingApp, .deciding, .opening:
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

    /// The caller's connection ended: a continuation that nobody has taken over yet is cancelled.
    package mutating func callerGone(_ cancelled: HandoffFailure) -> [Action] {
        callerListens = false
        switch state {
        case .fetching:
            return end(with: cancelled, handlerAwaits: true)
        case .choosing, .awaitingApp:
            return end(with: cancelled, handlerAwaits: false)
        case .idle, .deciding, .opening, .ended:
            // A handler that holds the payload may still take it over; the origin is then told as usual.
            return []
        }
    }

    private mutating func end(with failure: HandoffFailure, handlerAwaits: Bool) -> [Action] {
        state = .ended
        var actions: [Action] = []
        if handlerAwaits, recipient == .handler { actions.append(.tellDidFail(failure)) }
        if callerListens { actions.append(.fail(failure)) }
        return actions
    }
}
