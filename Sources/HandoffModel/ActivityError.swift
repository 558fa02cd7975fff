/// What is wrong with an activity that an app described or another device sent.
package enum ActivityError: Error, Equatable, Sendable {
    /// A field breaks a rule; the field is a path such as `userInfo.photo.$data`.
    case invalid(field: String, message: String)
    /// The encoded payload is too large; both in bytes.
    case tooLarge(bytes: Int, limit: Int)
}

extension ActivityError: CustomStringConvertible {
    /// The path of the field that is wrong.
    package var field: String {
        switch self {
        case .invalid(let field, _): field
        case .tooLarge: "userInfo"
        }
    }

    /// What is wrong with the field, as a fragment.
    package var message: String {
        switch self {
        case .invalid(_, let message): message
        case .tooLarge(let bytes, let limit): "the payload has \(bytes) bytes, \(limit) are allowed"
        }
    }

    /// Apple's code: 4611 when the payload is too large, otherwise 4608.
    package var code: Int {
        switch self {
        case .invalid: HandoffFailure.failedCode
        case .tooLarge: HandoffFailure.tooLargeCode
        }
    }

    /// Field and message, for a log or an error line.
    package var description: String {
        "\(field): \(message)"
    }
}
