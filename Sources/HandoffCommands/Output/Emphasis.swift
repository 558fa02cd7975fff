/// How a word stands out on a terminal with colours.
package enum Emphasis: Sendable {
    /// The heading of a table, or what is chosen.
    case strong
    /// What is as it should be.
    case good
    /// What may be wrong.
    case warning
    /// What is wrong.
    case problem

    /// Parameters of ECMA-48 SGR. Of the eight colours that every terminal has: they follow its theme.
    private var parameters: String {
        switch self {
        case .strong: "1"
        case .good: "32"
        case .warning: "33"
        case .problem: "1;31"
        }
    }

    /// The text with the sequences around it; they take no column.
    func apply(to text: String) -> String { "\u{1B}[\(parameters)m\(text)\u{1B}[0m" }

    /// Whether a terminal gets colours: not where the user has said so (https://no-color.org), nor one for plain text.
    static func isWanted(noColor: String?, term: String?) -> Bool {
        (noColor ?? "").isEmpty && !["", "dumb"].contains(term ?? "")
    }
}
