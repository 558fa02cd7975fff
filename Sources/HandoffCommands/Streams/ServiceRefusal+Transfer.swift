import HandoffClient
import HandoffJSON
import HandoffModel

extension ServiceRefusal {
    /// True if the refusal may be temporary: the other device or its daemon is offline, was just
    /// restarted, or does not have a new account key yet.
    var mayPass: Bool {
        switch kind {
        case "NothingToContinue", "AmbiguousIdentifier": return true
        case "ContinuationFailed", "StreamFailed":
            let codes = [HandoffFailure.connectionUnavailableCode, HandoffFailure.timedOutCode]
            if let code = parameters["code"]?.integer, codes.contains(Int(code)) {
                return parameters["reason"]?.string != "notMember"
            }
            let passing = ["unknownActivity", "ownerGone", "accountKeyMissing"]
            return passing.contains(parameters["reason"]?.string ?? "")
        default: return false
        }
    }
}
