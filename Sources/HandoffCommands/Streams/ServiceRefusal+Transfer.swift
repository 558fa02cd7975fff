import HandoffClient
import HandoffJSON
import HandoffModel

extension ServiceRefusal {
    /// True if a refusal may be over in a while: the other device or its daemon is away, was just restarted, or has not been
    /// given a new account key yet.
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
