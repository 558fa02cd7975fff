import HandoffControl
import HandoffJSON
import HandoffModel

/// A continuation that the user started from a notification.
final class NotificationContinuation: ContinuationCaller {
    /// Never called: a notification has no connection that could end.
    var onClosed: (() -> Void)?
    private var completion: ((String?) -> Void)?
    private let onContinued: (ContinuedActivity?, [ControlMissing]) -> Void
    private let onNewer: (NewerState) -> Void

    /// - Parameters:
    ///   - onContinued: receives the activity, and the things that this device lacks for it, after it
    ///     was continued.
    ///   - onNewer: receives the newer state, because of which it was not continued.
    ///   - completion: receives the reason of a failure, or nil; called once.
    init(
        onContinued: @escaping (ContinuedActivity?, [ControlMissing]) -> Void,
        onNewer: @escaping (NewerState) -> Void, completion: @escaping (String?) -> Void
    ) {
        self.onContinued = onContinued
        self.onNewer = onNewer
        self.completion = completion
    }

    func willContinue(_ type: ActivityType) {}

    func continued(_ outcome: ContinueEvent) {
        finish(nil)
        if case .continued(_, let activity, _, _, let missing) = outcome { onContinued(activity, missing ?? []) }
    }

    func failed(_ error: CallError) {
        if let newer = error.parameters["newer"]?.object.flatMap({ try? NewerState(json: $0) }) {
            finish(nil)
            return onNewer(newer)
        }
        finish(error.parameters["message"]?.string ?? "the daemon refused it (\(error.name))")
    }

    private func finish(_ reason: String?) {
        let call = completion
        completion = nil
        call?(reason)
    }
}
