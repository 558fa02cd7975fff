import HandoffControl
import HandoffModel

/// The caller of a continuation. It receives the outcome once, by `continued` or `failed`. On the
/// daemon's loop only.
protocol ContinuationCaller: AnyObject {
    /// Called once when the caller has disconnected.
    var onClosed: (() -> Void)? { get set }

    /// Called when the continuation of an activity of this type has started.
    func willContinue(_ type: ActivityType)

    /// Called when the activity was continued.
    func continued(_ outcome: ContinueEvent)

    /// Called when the continuation failed.
    func failed(_ error: CallError)
}

extension ControlCall: ContinuationCaller {
    /// Sends the event only to callers that accept more than one reply.
    func willContinue(_ type: ActivityType) {
        if wantsMore { replyContinuing(ContinueEvent.willContinue(type).json) }
    }

    func continued(_ outcome: ContinueEvent) {
        reply(outcome.json)
    }

    func failed(_ error: CallError) {
        fail(error)
    }
}
