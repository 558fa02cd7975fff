/// The emphasis of a word on a terminal with colours.
enum Emphasis: Sendable {
    /// A table heading or a selected line.
    case strong
    /// No problem.
    case good
    /// A possible problem.
    case warning
    /// A problem.
    case problem

    /// The parameters of ECMA-48 SGR, from the eight colours that every terminal has and that
    /// follow its theme.
    private var parameters: String {
        switch self {
        case .strong: "1"
        case .good: "32"
        case .warning: "33"
        case .problem: "1;31"
        }
    }

    /// Returns the text with escape sequences around it, which take no columns.
    func apply(to text: String) -> String { "\u{1B}[\(parameters)m\(text)\u{1B}[0m" }

    /// Returns true if a terminal should get colours: not if the user disabled them
    /// (https://no-color.org), and not on a text-only terminal.
    static func isWanted(noColor: String?, term: String?) -> Bool {
        (noColor ?? "").isEmpty && !["", "dumb"].contains(term ?? "")
    }
}
