/// Why a command line was refused: exit code 2. The description names the word, and what is allowed.
package struct UsageError: Error, Sendable, Equatable, CustomStringConvertible {
    package let message: String

    package var description: String { message + " (see handoffd --help)" }

    static func unknownOption(_ word: String, options: [String]) -> UsageError {
        let name = ConfigurationError.shown(word)
        return UsageError(
            message: "unknown option '\(name)'" + ConfigurationError.suggestion(name, among: options))
    }

    static func unexpectedWord(_ word: String) -> UsageError {
        UsageError(message: "unexpected word '\(ConfigurationError.shown(word))': handoffd takes options only")
    }

    static func missingValue(_ option: String, value: String) -> UsageError {
        UsageError(message: "option \(option) needs a value: \(value)")
    }

    static func superfluousValue(_ option: String) -> UsageError {
        UsageError(message: "option \(option) takes no value")
    }

    static func repeatedOption(_ option: String) -> UsageError {
        UsageError(message: "option \(option) was given twice")
    }

    static func emptyPath(_ option: String) -> UsageError {
        UsageError(message: "option \(option) needs a path that is not empty")
    }

    static func invalidValue(_ error: ConfigurationError) -> UsageError {
        UsageError(message: error.description)
    }
}
