/// Why a text is no JSON that is accepted here.
package enum JSONError: Error, Equatable, Sendable {
    /// The text is longer than the limit.
    case tooLarge
    /// A value is enclosed by more arrays and objects than the limit.
    case tooDeep
    /// An array or an object has more members than the limit.
    case tooManyMembers
    /// There are more values in all than the limit.
    case tooManyValues
    /// The text breaks the grammar or a rule of ours. The message never quotes the text; position is a byte offset.
    case syntax(message: String, position: Int)
}

extension JSONError: CustomStringConvertible {
    /// A fragment for an error message.
    package var description: String {
        switch self {
        case .tooLarge: "the JSON text is too long"
        case .tooDeep: "the JSON text is nested too deep"
        case .tooManyMembers: "an array or object has too many members"
        case .tooManyValues: "the JSON text has too many values"
        case .syntax(let message, let position): "\(message) at byte \(position)"
        }
    }
}
