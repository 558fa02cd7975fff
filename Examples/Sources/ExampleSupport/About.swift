/// What a program says of itself for `--help` and the command `help`.
package struct About: Sendable {
    /// Its name, as it is called.
    package let name: String
    /// A sentence for what it is.
    package let summary: String
    /// Its commands with what they do.
    package let commands: [(usage: String, meaning: String)]
    /// Which command a key is; see `Keyboard`.
    package let keys: [String: String]

    /// A description.
    package init(
        name: String, summary: String, commands: [(usage: String, meaning: String)], keys: [String: String] = [:]
    ) {
        self.name = name
        self.summary = summary
        self.commands = commands
        self.keys = keys
    }

    /// The commands of every program behind the program's own.
    package var allCommands: [(usage: String, meaning: String)] {
        commands + [("show", "draws what there is"), ("help", "lists the commands"), ("quit", "ends the program")]
    }

    /// The commands, a line for each, and the keys.
    package var commandList: [String] {
        let width = allCommands.map(\.usage.count).max() ?? 0
        var lines = allCommands.map { command in
            "  " + command.usage.padding(to: width) + "  " + command.meaning
        }
        if !keys.isEmpty {
            let list = keys.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
            lines.append("On a terminal also keys: " + list.joined(separator: ", "))
        }
        return lines
    }

    /// The text of `--help`.
    package var help: String {
        ([
            "Usage: \(name) [--plain]", "", summary, "",
            "  --plain  prints a line for each event and draws on `show` alone, as it does where there is no terminal",
            "  --help   prints this", "",
            "It is attached to the daemon whose socket is in $HANDOFF_SOCKET, or to that of the user.",
            "", "Commands, one on each line of the standard input:",
        ] + commandList).joined(separator: "\n")
    }
}

extension String {
    /// The text with spaces behind it, up to a width in characters; cut when it is longer.
    package func padding(to width: Int) -> String {
        count >= width ? String(prefix(width)) : self + String(repeating: " ", count: width - count)
    }
}
