/// The name, value form and help text of one option.
package struct OptionSpecification: Sendable, Equatable {
    /// The value that follows the option's name.
    package enum Form: Sendable, Equatable {
        /// No value.
        case flag
        /// One value. Giving the option twice is a usage error.
        case value(Placeholder)
        /// One value per use; the option may be repeated.
        case values(Placeholder)
    }

    /// The name with its dashes: `--title`.
    package let name: String
    /// The form of the value.
    package let form: Form
    /// One line of help, in lower case, without a period.
    package let summary: String

    package init(_ name: String, _ form: Form, _ summary: String) {
        self.name = name
        self.form = form
        self.summary = summary
    }

    /// The placeholder of the value; nil for a flag.
    package var placeholder: Placeholder? {
        switch form {
        case .flag: nil
        case .value(let placeholder), .values(let placeholder): placeholder
        }
    }

    /// The option as shown in help and usage lines: `--title TEXT`.
    package var synopsis: String { placeholder.map { "\(name) \($0.text)" } ?? name }
}

/// The name of a value in help and usage lines: `TEXT`. A program defines placeholders with a
/// meaning as static members, by which shell completion recognises them.
package struct Placeholder: Sendable, Equatable, ExpressibleByStringLiteral {
    package let text: String
    /// Distinguishes values that are shown alike but have different completions.
    package let subject: String
    /// True if the value is or contains a path or a shell command, which need not be valid UTF-8.
    package let isSystemText: Bool

    package init(_ text: String, subject: String = "", isSystemText: Bool = false) {
        self.text = text
        self.subject = subject
        self.isSystemText = isSystemText
    }

    package init(stringLiteral text: String) {
        self.init(text)
    }
}

extension Placeholder {
    package static let path = Placeholder("PATH", isSystemText: true)
    package static let file = Placeholder("FILE", isSystemText: true)
}
