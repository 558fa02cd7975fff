package import HandoffModel

/// One continuation on the receiving device, from the user's choice to its only outcome.
///
/// Exactly one of `.deliver` and `.sendDidFail` follows each `.sendWillContinue`. Exactly one of
/// `.finish` and `.fail` replies to the caller. Both hold for any order of events. Diagram:
/// `docs/state-machines/continuation.md`.
package struct ContinuationMachine: Sendable {
    /// The recipient of the activity.
    package enum Recipient: Equatable, Sendable {
        /// The caller of the continuation is itself the handler (`continue --print`).
        case caller
        /// An attached app that declared the type.
        case handler
        /// An app that is started for the activity, and becomes the handler once it attaches.
        case started
        /// The choice depends on the web page, once the payload has arrived.
        case page
    }

    /// The opener selected from the activity's page, passed to `chose`.
    package enum Choice: Equatable, Sendable {
        /// An attached app.
        case handler
        /// An app that must be started.
        case launch
        /// The browser.
        case browser
        /// Nothing.
        case nothing(HandoffFailure)
    }

    /// The next actions of the driver, in order.
    package enum Action: Equatable, Sendable {
        /// Send the handler the type of the activity, before any data.
        case sendWillContinue
        /// Request the payload from the origin.
        case fetch
        /// Start the app. The payload is fetched meanwhile.
        case launch
        /// Select the recipient by the page, and call `chose`.
        case choose(ActivityContent)
        /// Send the payload to the handler, and wait for its answer.
        case deliver(ActivityContent)
        /// Open the page in the browser.
        case openPage(ActivityContent)
        /// Notify the handler that no payload will arrive.
        case sendDidFail(HandoffFailure)
        /// Notify the origin that its activity was continued.
        case notifyOrigin
        /// Reply to the caller with success. The caller receives the content only if it is the
        /// recipient.
        case finish(ActivityContent)
        /// Reply to the caller with the failure.
        case fail(HandoffFailure)
    }

    private enum State {
        /// The continuation has not started.
        case idle
        /// The payload is requested from the origin.
        case fetching
        /// The driver selects the opener of the page.
        case choosing(ActivityContent)
        /// The payload waits for the app that was started.
        case awaitingApp(ActivityContent)
        /// The handler has the payload and has not answered yet.
        case deciding(ActivityContent)
        /// The browser is started.
        case opening(ActivityContent)
        /// The outcome is known.
        case ended
    }

    /// The current recipient of the activity.
    private(set) var recipient: Recipient
    private var state = State.idle
    private var callerListens = true

    /// A continuation that has not started.
    package init(recipient: Recipient) {
        self.recipient = recipient
    }

    /// Whether the outcome is known.
    var hasEnded: Bool {
        if case .ended = state { return true }
        return false
    }

    /// Whether an app was started for it that has not attached yet.
    var awaitsApp: Bool {
        switch state {
        case .fetching, .awaitingApp: recipient == .started
        case .idle, .choosing, .deciding, .opening, .ended: false
        }
    }

    /// Whether the browser is being started.
    var isOpening: Bool {
        if case .opening = state { return true }
        return false
    }

    /// Starts the continuation that the user chose.
    package mutating func begin() -> [Action] {
        switch state {
        case .idle:
            state = .fetching
            switch recipient {
            case .caller, .handler: return [.fetch, .sendWillContinue]
            case .started: return [.launch, .fetch]
            case .page: return [.fetch]
            }
        case .fetching, .choosing, .awaitingApp, .deciding, .opening, .ended:
            return []
        }
    }

    /// Handles the payload received from the origin.
    package mutating func receivedContent(_ content: ActivityContent) -> [Action] {
        switch state {
        case .fetching:
            switch recipient {
            case .caller:
                state = .ended
                return [.finish(content), .notifyOrigin]
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

    /// Handles the driver's selection of the opener.
    package mutating func chose(_ choice: Choice) -> [Action] {
        switch state {
        case .choosing(let content):
            switch choice {
            case .handler:
                recipient = .handler
                state = .deciding(content)
                return [.sendWillContinue, .deliver(content)]
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

    /// Handles the attachment of the app that was started.
    package mutating func attached() -> [Action] {
        switch state {
        case .fetching where recipient == .started:
            recipient = .handler
            return [.sendWillContinue]
        case .awaitingApp(let content):
            recipient = .handler
            state = .deciding(content)
            return [.sendWillContinue, .deliver(content)]
        case .idle, .fetching, .choosing, .deciding, .opening, .ended:
            return []
        }
    }

    /// Handles an app that could not be started, or has not attached in time.
    package mutating func launchFailed(_ failure: HandoffFailure) -> [Action] {
        switch state {
        case .fetching where recipient == .started, .awaitingApp:
            return end(with: failure, handlerAwaits: false)
        case .idle, .fetching, .choosing, .deciding, .opening, .ended:
            return []
        }
    }

    /// Handles the success of the browser's start.
    package mutating func pageOpened() -> [Action] {
        switch state {
        case .opening(let content):
            state = .ended
            return (callerListens ? [.finish(content)] : []) + [.notifyOrigin]
        case .idle, .fetching, .choosing, .awaitingApp, .deciding, .ended:
            return []
        }
    }

    /// Handles a page that could not be opened.
    package mutating func pageFailed(_ failure: HandoffFailure) -> [Action] {
        switch state {
        case .opening:
            return end(with: failure, handlerAwaits: false)
        case .idle, .fetching, .choosing, .awaitingApp, .deciding, .ended:
            return []
        }
    }

    /// Handles a fetch that failed: the origin refused or went offline, or the user cancelled.
    package mutating func fetchFailed(_ failure: HandoffFailure) -> [Action] {
        switch state {
        case .fetching:
            return end(with: failure, handlerAwaits: true)
        case .idle, .choosing, .awaitingApp, .deciding, .opening, .ended:
            return []
        }
    }

    /// Handles the handler's answer. If it refused, the page is opened instead.
    package mutating func answered(handled: Bool, refusal: HandoffFailure) -> [Action] {
        switch state {
        case .deciding(let content):
            guard !handled else {
                state = .ended
                return (callerListens ? [.finish(content)] : []) + [.notifyOrigin]
            }
            // Without a caller, the page would open unexpectedly.
            guard content.webpageURL != nil, callerListens else { return end(with: refusal, handlerAwaits: false) }
            state = .opening(content)
            return [.openPage(content)]
        case .idle, .fetching, .choosing, .awaitingApp, .opening, .ended:
            return []
        }
    }

    /// Handles the end of the handler's connection.
    package mutating func handlerGone(_ failure: HandoffFailure) -> [Action] {
        switch state {
        case .fetching, .deciding:
            return end(with: failure, handlerAwaits: false)
        case .idle, .choosing, .awaitingApp, .opening, .ended:
            return []
        }
    }

    /// Handles the deadline of the whole continuation.
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

    /// Handles the removal of the origin. Everything it has sent or will send is ignored.
    mutating func originRemoved(_ failure: HandoffFailure) -> [Action] {
        // As at the deadline, a handler that expects a payload is notified of the failure.
        deadlinePassed(failure)
    }

    /// Handles the end of the caller's connection. A continuation that no handler or browser
    /// has received yet is cancelled.
    package mutating func callerGone(_ cancelled: HandoffFailure) -> [Action] {
        callerListens = false
        switch state {
        case .fetching:
            return end(with: cancelled, handlerAwaits: true)
        case .choosing, .awaitingApp:
            return end(with: cancelled, handlerAwaits: false)
        case .idle, .deciding, .opening, .ended:
            // A handler that has the payload may still continue the activity. The origin is then
            // notified as usual.
            return []
        }
    }

    private mutating func end(with failure: HandoffFailure, handlerAwaits: Bool) -> [Action] {
        state = .ended
        var actions: [Action] = []
        if handlerAwaits, recipient == .handler { actions.append(.sendDidFail(failure)) }
        if callerListens { actions.append(.fail(failure)) }
        return actions
    }
}
