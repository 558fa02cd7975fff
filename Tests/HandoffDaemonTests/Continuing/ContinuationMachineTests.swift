import HandoffDaemon
import HandoffJSON
import HandoffModel
import Testing

/// Every event in every state of a continuation, with the exact actions.
struct ContinuationMachineTests {
    private typealias Action = ContinuationMachine.Action

    private enum Event: CaseIterable {
        case begin
        case content
        case fetchFailed
        case accepted
        case refused
        case handlerGone
        case deadline
        case callerGone
        case attached
        case launchFailed
        case choseHandler
        case choseLaunch
        case choseBrowser
        case choseNothing
        case pageOpened
        case pageFailed
    }

    private static let failure = HandoffFailure.peerUnreachable(device: "desk", cause: "no route to host")
    private static let content: ActivityContent = {
        guard let type = ActivityType("org.example.reading") else { fatalError("the type is valid") }
        return ActivityContent(type: type, userInfo: ["page": 7])
    }()
    private static let page: ActivityContent = {
        var page = content
        page.webpageURL = "https://example.org/"
        return page
    }()

    private static func send(
        _ event: Event, to machine: inout ContinuationMachine, content: ActivityContent = content
    ) -> [Action] {
        switch event {
        case .begin: machine.begin()
        case .content: machine.receivedContent(content)
        case .fetchFailed: machine.fetchFailed(failure)
        case .accepted: machine.answered(handled: true, refusal: failure)
        case .refused: machine.answered(handled: false, refusal: failure)
        case .handlerGone: machine.handlerGone(failure)
        case .deadline: machine.deadlinePassed(failure)
        case .callerGone: machine.callerGone(failure)
        case .attached: machine.attached()
        case .launchFailed: machine.launchFailed(failure)
        case .choseHandler: machine.chose(.handler)
        case .choseLaunch: machine.chose(.launch)
        case .choseBrowser: machine.chose(.browser)
        case .choseNothing: machine.chose(.nothing(failure))
        case .pageOpened: machine.pageOpened()
        case .pageFailed: machine.pageFailed(failure)
        }
    }

    private static func check(
        _ recipient: ContinuationMachine.Recipient, after history: [Event], content: ActivityContent = content,
        _ expected: [Event: [Action]]
    ) {
        for event in Event.allCases {
            var machine = ContinuationMachine(recipient: recipient)
            for past in history { _ = send(past, to: &machine, content: content) }
            let actions = send(event, to: &machine, content: content)
            #expect(actions == expected[event] ?? [], "\(recipient) after \(history): \(event)")
        }
    }

    @Test func `before the start, only begin has an effect`() {
        for recipient in [ContinuationMachine.Recipient.caller, .handler] {
            Self.check(recipient, after: [], [.begin: [.fetch, .sendWillContinue]])
        }
        Self.check(.started, after: [], [.begin: [.launch, .fetch]])
        Self.check(.page, after: [], [.begin: [.fetch]])
    }

    @Test func `while fetching for the caller, every outcome is reported once`() {
        Self.check(
            .caller, after: [.begin],
            [
                .content: [.finish(Self.content), .notifyOrigin],
                .fetchFailed: [.fail(Self.failure)],
                .handlerGone: [.fail(Self.failure)],
                .deadline: [.fail(Self.failure)],
            ])
    }

    @Test func `while fetching for a handler, a failure is reported to handler and caller`() {
        Self.check(
            .handler, after: [.begin],
            [
                .content: [.deliver(Self.content)],
                .fetchFailed: [.sendDidFail(Self.failure), .fail(Self.failure)],
                .handlerGone: [.fail(Self.failure)],
                .deadline: [.sendDidFail(Self.failure), .fail(Self.failure)],
                .callerGone: [.sendDidFail(Self.failure)],
            ])
    }

    @Test func `after deliver, didFail never follows`() {
        Self.check(
            .handler, after: [.begin, .content],
            [
                .accepted: [.finish(Self.content), .notifyOrigin],
                .refused: [.fail(Self.failure)],
                .handlerGone: [.fail(Self.failure)],
                .deadline: [.fail(Self.failure)],
            ])
    }

    @Test func `while an app starts, it receives nothing, and app and payload may arrive in either order`() {
        Self.check(
            .started, after: [.begin],
            [
                .content: [], .attached: [.sendWillContinue],
                .fetchFailed: [.fail(Self.failure)], .launchFailed: [.fail(Self.failure)],
                .handlerGone: [.fail(Self.failure)], .deadline: [.fail(Self.failure)],
            ])
        Self.check(
            .started, after: [.begin, .content],
            [
                .attached: [.sendWillContinue, .deliver(Self.content)], .launchFailed: [.fail(Self.failure)],
                .deadline: [.fail(Self.failure)],
            ])
        Self.check(
            .started, after: [.begin, .attached],
            [
                .content: [.deliver(Self.content)],
                .fetchFailed: [.sendDidFail(Self.failure), .fail(Self.failure)],
                .handlerGone: [.fail(Self.failure)],
                .deadline: [.sendDidFail(Self.failure), .fail(Self.failure)],
                .callerGone: [.sendDidFail(Self.failure)],
            ])
        Self.check(
            .started, after: [.begin, .content, .attached],
            [
                .accepted: [.finish(Self.content), .notifyOrigin], .refused: [.fail(Self.failure)],
                .handlerGone: [.fail(Self.failure)], .deadline: [.fail(Self.failure)],
            ])
    }

    @Test func `a page is the basis of the choice once it is known`() {
        Self.check(
            .page, after: [.begin, .content],
            [
                .choseHandler: [.sendWillContinue, .deliver(Self.content)], .choseLaunch: [.launch],
                .choseBrowser: [.openPage(Self.content)], .choseNothing: [.fail(Self.failure)],
                .deadline: [.fail(Self.failure)],
            ])
        Self.check(
            .page, after: [.begin, .content, .choseBrowser],
            [
                .pageOpened: [.finish(Self.content), .notifyOrigin], .pageFailed: [.fail(Self.failure)],
                .deadline: [.fail(Self.failure)],
            ])
        Self.check(.page, after: [.begin, .content, .choseBrowser, .callerGone], [.pageOpened: [.notifyOrigin]])
    }

    @Test func `if the app refuses, the page is opened, unless the caller has disconnected`() {
        Self.check(
            .handler, after: [.begin, .content], content: Self.page,
            [
                .accepted: [.finish(Self.page), .notifyOrigin], .refused: [.openPage(Self.page)],
                .handlerGone: [.fail(Self.failure)], .deadline: [.fail(Self.failure)],
            ])
        Self.check(
            .handler, after: [.begin, .content, .callerGone], content: Self.page, [.accepted: [.notifyOrigin]])
    }

    @Test func `a handler that accepts after the caller disconnected still notifies the origin`() {
        Self.check(
            .handler, after: [.begin, .content, .callerGone],
            [.accepted: [.notifyOrigin]])
    }

    @Test func `after the outcome, no event has an effect`() {
        let histories: [[Event]] = [
            [.begin, .fetchFailed], [.begin, .content, .accepted], [.begin, .content, .refused], [.begin, .deadline],
            [.begin, .callerGone], [.begin, .handlerGone],
        ]
        for history in histories { Self.check(.handler, after: history, [:]) }
    }

    @Test func `in any order of events, handler and caller receive at most one outcome`() {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<2000 {
            let recipient =
                [ContinuationMachine.Recipient.caller, .handler, .started, .page].randomElement() ?? .caller
            var machine = ContinuationMachine(recipient: recipient)
            var actions = machine.begin()
            for event in Event.allCases.shuffled(using: &generator) { actions += Self.send(event, to: &machine) }
            let outcomes = actions.filter {
                if case .finish = $0 { return true }
                if case .fail = $0 { return true }
                return false
            }
            let told = actions.filter {
                if case .deliver = $0 { return true }
                if case .sendDidFail = $0 { return true }
                return false
            }
            #expect(outcomes.count <= 1)
            #expect(told.count <= 1)
        }
    }
}
