import HandoffDaemon
import HandoffJSON
import HandoffModel
import Testing

/// Every state of a continuation against every event, with the exact actions.
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
    }

    private static let failure = HandoffFailure.peerUnreachable(device: "desk", cause: "no route to host")
    private static let content: ActivityContent = {
        guard let type = ActivityType("org.example.reading") else { fatalError("the type is valid") }
        return ActivityContent(type: type, userInfo: ["page": 7])
    }()

    private static func send(_ event: Event, to machine: inout ContinuationMachine) -> [Action] {
        switch event {
        case .begin: machine.begin()
        case .content: machine.receivedContent(content)
        case .fetchFailed: machine.fetchFailed(failure)
        case .accepted: machine.answered(handled: true, refusal: failure)
        case .refused: machine.answered(handled: false, refusal: failure)
        case .handlerGone: machine.handlerGone(failure)
        case .deadline: machine.deadlinePassed(failure)
        case .callerGone: machine.callerGone(failure)
        }
    }

    private static func check(
        _ taker: ContinuationMachine.Taker, after history: [Event], _ expected: [Event: [Action]]
    ) {
        for event in Event.allCases {
            var machine = ContinuationMachine(taker: taker)
            for past in history { _ = send(past, to: &machine) }
            #expect(send(event, to: &machine) == expected[event] ?? [], "\(taker) after \(history): \(event)")
        }
    }

    @Test func `before it began, only begin does something`() {
        for taker in [ContinuationMachine.Taker.caller, .handler] {
            Self.check(taker, after: [], [.begin: [.tellWillContinue, .fetch]])
        }
    }

    @Test func `while fetching for the caller, every end is answered once`() {
        Self.check(
            .caller, after: [.begin],
            [
                .content: [.finish(Self.content), .tellOrigin],
                .fetchFailed: [.fail(Self.failure)],
                .handlerGone: [.fail(Self.failure)],
                .deadline: [.fail(Self.failure)],
            ])
    }

    @Test func `while fetching for a handler, a failure is told to handler and caller`() {
        Self.check(
            .handler, after: [.begin],
            [
                .content: [.deliver(Self.content)],
                .fetchFailed: [.tellDidFail(Self.failure), .fail(Self.failure)],
                .handlerGone: [.fail(Self.failure)],
                .deadline: [.tellDidFail(Self.failure), .fail(Self.failure)],
                .callerGone: [.tellDidFail(Self.failure)],
            ])
    }

    @Test func `once delivered, didFail never follows`() {
        Self.check(
            .handler, after: [.begin, .content],
            [
                .accepted: [.finish(Self.content), .tellOrigin],
                .refused: [.fail(Self.failure)],
                .handlerGone: [.fail(Self.failure)],
                .deadline: [.fail(Self.failure)],
            ])
    }

    @Test func `a handler that takes over after the caller left still makes the origin know`() {
        Self.check(
            .handler, after: [.begin, .content, .callerGone],
            [.accepted: [.tellOrigin]])
    }

    @Test func `after the end nothing happens any more`() {
        let histories: [[Event]] = [
            [.begin, .fetchFailed], [.begin, .content, .accepted], [.begin, .content, .refused], [.begin, .deadline],
            [.begin, .callerGone], [.begin, .handlerGone],
        ]
        for history in histories { Self.check(.handler, after: history, [:]) }
    }

    @Test func `in any order of events, at most one outcome for handler and caller`() {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<2000 {
            let taker: ContinuationMachine.Taker = Bool.random(using: &generator) ? .caller : .handler
            var machine = ContinuationMachine(taker: taker)
            var actions = machine.begin()
            for event in Event.allCases.shuffled(using: &generator) { actions += Self.send(event, to: &machine) }
            let outcomes = actions.filter {
                if case .finish = $0 { return true }
                if case .fail = $0 { return true }
                return false
            }
            let told = actions.filter {
                if case .deliver = $0 { return true }
                if case .tellDidFail = $0 { return true }
                return false
            }
            #expect(outcomes.count <= 1)
            #expect(told.count <= 1)
        }
    }
}
