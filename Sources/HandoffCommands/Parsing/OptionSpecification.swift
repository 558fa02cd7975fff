/// One option of a command: how it is written, what it takes, and what help says about it.
package struct OptionSpecification: Sendable, Equatable {
    /// What follows the option's name.
    package enum Form: Sendable, Equatable {
        /// Nothing: the option is there or not.
        case flag
        /// One value; giving the option twice is wrong usage.
        case value(String)
        /// One value each time, any number of times.
        case values(String)
    }

    /// The name with its dashes: `--title`.
    package let name: String
    /// What follows the name; the text is the placeholder that help shows.
    package let form: Form
    /// One line of help, lower case, without full stop.
    package let summary: String

    package init(_ name: String, _ form: Form, _ summary: String) {
        self.name = name
        self.form = form
        self.summary = summary
    }

    /// The option as help and usage lines show it: `--title TEXT`.
    package var synopsis: String {
        switch form {
        case .flag: name
        case .value(let placeholder), .values(let placeholder): "\(name) \(placeholder)"
        }
    }

    /// Options that every command takes, before or after its name.
    package static let global: [OptionSpecification] = [
        OptionSpecification(
            "--socket", .value("PATH"), "the daemon's control socket (default: $HANDOFF_SOCKET, else the user's)"),
        OptionSpecification("--json", .flag, "one JSON object per line, each with \"version\": 1"),
        OptionSpecification("--help", .flag, "this help"),
    ]
}
