import HandoffControl
import HandoffControlServer
import HandoffModel

/// Who asks for a continuation, and is told how it ends: once, by `continued` or `failed`. On the daemon's loop only.
protocol ContinuationCaller: AnyObject {
    /// Called once when nobody waits for the outcome any more.
    var onClosed: (() -> Void)? { get set }

    /// The activity of this type is on its way.
    func willContinue(_ type: ActivityType)

    /// It was continued.
    func continued(_ outcome: ContinueEvent)

    /// It was not.
    func failed(_ error: CallError)
}

extension ControlCall: ContinuationCaller {
    /// Told only to who asked for more than one answer.
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
