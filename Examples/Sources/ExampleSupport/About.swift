/// The description of a program for `--help` and the command `help`.
package struct About: Sendable {
    /// The name of the program.
    package let name: String
    /// A sentence that describes the program.
    package let summary: String
    /// The commands and their effects.
    package let commands: [(usage: String, meaning: String)]
    /// The commands by key; see `Keyboard`.
    package let keys: [String: String]

    /// Creates a description.
    package init(
        name: String, summary: String, commands: [(usage: String, meaning: String)], keys: [String: String] = [:]
    ) {
        self.name = name
        self.summary = summary
        self.commands = commands
        self.keys = keys
    }

    /// The program's own commands, followed by those that every program has.
    package var allCommands: [(usage: String, meaning: String)] {
        commands + [("show", "draws the picture"), ("help", "lists the commands"), ("quit", "ends the program")]
    }

    /// The commands, one per line, and the keys.
    package var commandList: [String] {
        let width = allCommands.map(\.usage.count).max() ?? 0
        var lines = allCommands.map { command in
            "  " + command.usage.padding(to: width) + "  " + command.meaning
        }
        if !keys.isEmpty {
            let list = keys.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
            lines.append("Keys on a terminal: " + list.joined(separator: ", "))
        }
        return lines
    }

    /// The text of `--help`.
    package var help: String {
        ([
            "Usage: \(name) [--plain]", "", summary, "",
            "  --plain  Print a line for each event, and draw only on `show` (default without a terminal)",
            "  --help   Show this help", "",
            "The program connects to the daemon at $HANDOFF_SOCKET, or to the user's daemon.",
            "", "Commands, one per line on standard input:",
        ] + commandList).joined(separator: "\n")
    }
}

extension String {
    /// Returns the text padded with spaces to a width in characters, or cut to it.
    package func padding(to width: Int) -> String {
        count >= width ? String(prefix(width)) : self + String(repeating: " ", count: width - count)
    }
}
