public import Foundation
import HandoffClient
import HandoffControl
import HandoffJSON
package import HandoffModel

/// What went wrong, as the daemon or the other device said it. It is under `NSUnderlyingErrorKey` of the errors that an app gets,
/// which are of Apple's domain (`NSCocoaErrorDomain`) and codes.
public struct HandoffError: Error, Sendable, Equatable {
    /// One of Apple's codes: 4608 failed, 4609 connection unavailable, 4610 timed out, 4611 too large, 3328 not supported.
    public let code: Int
    /// A stable identifier in camelCase, such as `ownerGone`; there may be new ones later.
    public let reason: String
    /// A lower-case fragment for people that names the cause, and the device where there is one.
    public let message: String

    /// An error with these properties.
    public init(code: Int, reason: String, message: String) {
        self.code = code
        self.reason = reason
        self.message = message
    }

    /// The error as an app gets it.
    var cocoaError: NSError {
        NSError(
            domain: NSCocoaErrorDomain, code: code,
            userInfo: [NSLocalizedDescriptionKey: message, NSUnderlyingErrorKey: self])
    }
}

extension HandoffError: LocalizedError {
    /// The message.
    public var errorDescription: String? { message }
}

extension HandoffError {
    /// What the daemon said of a continuation.
    package init(_ failure: HandoffFailure) {
        self.init(
            code: failure.code, reason: failure.reason, message: VisibleText.escape(failure.message))
    }

    /// An activity that breaks a rule.
    init(_ error: ActivityError) {
        self.init(code: error.code, reason: "invalidActivity", message: "\(error)")
    }

    /// A call on the daemon that failed.
    init(_ error: ClientError) {
        switch error {
        case .notReachable(let path, let reason):
            self.init(
                code: HandoffFailure.connectionUnavailableCode, reason: "daemonUnreachable",
                message: "cannot reach handoffd at \(path): \(reason)")
        case .foreign(let path, let user):
            self.init(
                code: HandoffFailure.connectionUnavailableCode, reason: "daemonUnreachable",
                message: "the socket \(path) is that of the user with the number \(user)")
        case .lost:
            self.init(
                code: HandoffFailure.connectionUnavailableCode, reason: "daemonGone", message: "handoffd has ended")
        case .badAnswer(let problem):
            self.init(
                code: HandoffFailure.failedCode, reason: "badAnswer",
                message: "handoffd answered what this version does not understand: \(problem)")
        case .refused(let refusal):
            // Codes of errors that have one (StreamFailed, InvalidActivity).
            let code = refusal.parameters["code"]?.integer.flatMap { Int(exactly: $0) }
            let reason = refusal.parameters["reason"]?.string ?? refusal.kind
            let field = refusal.parameters["field"]?.string.map { "\(VisibleText.escape($0)): " } ?? ""
            let message = field + VisibleText.escape(refusal.message)
            // Which makes any other code 4608.
            let failure = HandoffFailure(code: code ?? HandoffFailure.failedCode, reason: reason, message: message)
            self.init(code: failure.code, reason: reason, message: message)
        }
    }

    /// The connection to the daemon has ended in the middle of a continuation.
    static func lostWhileContinuing(from device: String) -> HandoffError {
        HandoffError(
            code: HandoffFailure.connectionUnavailableCode, reason: "daemonGone",
            message: "handoffd ended while an activity of \(device) was on its way")
    }

    /// The activity was not continued here.
    static let notContinued = HandoffError(HandoffFailure.notContinued)
}
