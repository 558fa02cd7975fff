import HandoffControl
import HandoffJSON
import HandoffModel

/// A continuation that the user started from a notification.
final class NotificationContinuation: ContinuationCaller {
    /// Never called: a notification has no connection that could end.
    var onClosed: (() -> Void)?
    private var completion: ((String?) -> Void)?

    /// - Parameter completion: receives the reason of a failure, or nil; called once.
    init(_ completion: @escaping (String?) -> Void) {
        self.completion = completion
    }

    func willContinue(_ type: ActivityType) {}

    func continued(_ outcome: ContinueEvent) {
        finish(nil)
    }

    func failed(_ error: CallError) {
        finish(error.parameters["message"]?.string ?? "the daemon refused it (\(error.name))")
    }

    private func finish(_ reason: String?) {
        let call = completion
        completion = nil
        call?(reason)
    }
}
