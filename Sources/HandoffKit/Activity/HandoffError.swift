public import Foundation
import HandoffClient
import HandoffControl
import HandoffJSON
package import HandoffModel

/// An error reported by the daemon or the other device. It is the `NSUnderlyingErrorKey` of the
/// errors that an app receives, which use Apple's domain (`NSCocoaErrorDomain`) and codes.
public struct HandoffError: Error, Sendable, Equatable {
    /// One of Apple's codes: 4608 failed, 4609 connection unavailable, 4610 timed out, 4611 too
    /// large, 3328 not supported.
    public let code: Int
    /// A stable identifier in camelCase, such as `ownerGone`. Later versions may add new ones.
    public let reason: String
    /// A user-readable, lowercase fragment that names the cause, and the device if there is one.
    public let message: String

    /// Creates an error.
    public init(code: Int, reason: String, message: String) {
        self.code = code
        self.reason = reason
        self.message = message
    }

    /// The error in the form that an app receives.
    var cocoaError: NSError {
        NSError(
            domain: NSCocoaErrorDomain, code: code,
            userInfo: [NSLocalizedDescriptionKey: message, NSUnderlyingErrorKey: self])
    }
}

extension HandoffError: LocalizedError {
    /// The user-readable message.
    public var errorDescription: String? { message }
}

extension HandoffError {
    /// Creates an error from a failure that the daemon reported for a continuation.
    package init(_ failure: HandoffFailure) {
        self.init(
            code: failure.code, reason: failure.reason, message: VisibleText.escape(failure.message))
    }

    init(_ error: ActivityError) {
        self.init(code: error.code, reason: "invalidActivity", message: "\(error)")
    }

    init(_ error: ClientError) {
        switch error {
        case .notReachable(let path, let reason):
            self.init(
                code: HandoffFailure.connectionUnavailableCode, reason: "daemonUnreachable",
                message: "cannot reach handoffd at \(path): \(reason)")
        case .foreign(let path, let user):
            self.init(
                code: HandoffFailure.connectionUnavailableCode, reason: "daemonUnreachable",
                message: "the socket \(path) belongs to another user (user ID \(user))")
        case .lost:
            self.init(
                code: HandoffFailure.connectionUnavailableCode, reason: "daemonGone", message: "handoffd has ended")
        case .badAnswer(let problem):
            self.init(
                code: HandoffFailure.failedCode, reason: "badAnswer",
                message: "handoffd sent a reply that this version does not understand: \(problem)")
        case .refused(let refusal):
            // Some errors have a code: StreamFailed, InvalidActivity.
            let code = refusal.parameters["code"]?.integer.flatMap { Int(exactly: $0) }
            let reason = refusal.parameters["reason"]?.string ?? refusal.kind
            let field = refusal.parameters["field"]?.string.map { "\(VisibleText.escape($0)): " } ?? ""
            let message = field + VisibleText.escape(refusal.message)
            // `HandoffFailure` replaces any other code with 4608.
            let failure = HandoffFailure(code: code ?? HandoffFailure.failedCode, reason: reason, message: message)
            self.init(code: failure.code, reason: reason, message: message)
        }
    }

    /// The error for a connection to the daemon that ended during a continuation.
    static func lostWhileContinuing(from device: String) -> HandoffError {
        HandoffError(
            code: HandoffFailure.connectionUnavailableCode, reason: "daemonGone",
            message: "handoffd ended while an activity was being transferred from \(device)")
    }

    static let notContinued = HandoffError(HandoffFailure.notContinued)
}
