import HandoffControl
import HandoffControlServer
import HandoffJSON
import HandoffModel

/// A continuation that the user asked for in a notification.
final class NotificationContinuation: ContinuationCaller {
    /// Never called: the user who has clicked does not go away.
    var onClosed: (() -> Void)?
    private var completion: ((String?) -> Void)?

    /// - Parameter completion: gets why it failed, or nil; called once.
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
