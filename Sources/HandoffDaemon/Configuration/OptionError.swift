import LoopIO

/// An error in the command line: exit code 2. The description names the argument and the allowed
/// values.
package struct OptionError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The option and its error.
    let message: String

    package var description: String { message + " (see handoffd --help)" }

    static func unexpectedWord(_ word: String) -> OptionError {
        OptionError(message: "unexpected argument '\(ConfigurationError.shown(word))': handoffd accepts only options")
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

extension OptionError {
    /// An option that the scanner cannot accept.
    init(_ error: ArgumentError) {
        switch error {
        case .unknownOption(let word):
            let name = ConfigurationError.shown(word)
            let names = CommandLineParser.options.map(\.name)
            self.init(message: "unknown option '\(name)'" + ConfigurationError.suggestion(name, among: names))
        case .missingValue(let option):
            let allowed = CommandLineParser.setting(of: option.name)?.allowed ?? "a path"
            self.init(message: "option \(option.name) needs a value: \(allowed)")
        case .optionAsValue(let option, let value):
            let word = ConfigurationError.shown(value)
            self.init(
                message: "option \(option.name) needs a value, but '\(word)' is an option; "
                    + "to pass it as the value, write \(option.name)=\(word)")
        case .unexpectedValue(let option): self.init(message: "option \(option) takes no value")
        case .repeatedOption(let option): self = .repeatedOption(option)
        }
    }
}
