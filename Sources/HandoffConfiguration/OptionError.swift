/// An error in the command line: exit code 2. The description names the argument and the allowed
/// values.
package struct OptionError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The option and its error.
    package let message: String

    package var description: String { message + " (see handoffd --help)" }

    static func unknownOption(_ word: String, options: [String]) -> OptionError {
        let name = ConfigurationError.shown(word)
        return OptionError(
            message: "unknown option '\(name)'" + ConfigurationError.suggestion(name, among: options))
    }

    static func unexpectedWord(_ word: String) -> OptionError {
        OptionError(message: "unexpected argument '\(ConfigurationError.shown(word))': handoffd accepts only options")
    }

    static func missingValue(_ option: String, value: String) -> OptionError {
        OptionError(message: "option \(option) needs a value: \(value)")
    }

    static func superfluousValue(_ option: String) -> OptionError {
        OptionError(message: "option \(option) takes no value")
    }

    static func repeatedOption(_ option: String) -> OptionError {
        OptionError(message: "option \(option) was given twice")
    }

    static func emptyPath(_ option: String) -> OptionError {
        OptionError(message: "option \(option) needs a non-empty path")
    }

    static func invalidValue(_ error: ConfigurationError) -> OptionError {
        OptionError(message: error.description)
    }
}
