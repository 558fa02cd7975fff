import HandoffModel

/// One line of the log, before a sink has given it a form.
package struct LogEntry: Sendable, Equatable {
    /// A named value of an entry.
    package struct Field: Sendable, Equatable {
        package let name: String
        package let value: String

        package init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    package let level: LogLevel
    /// The part of the program that speaks, such as `discovery`.
    package let subsystem: String
    /// A sentence without a full stop.
    package let message: String
    /// What the sentence is about, in the order of the call.
    package let fields: [Field]

    package init(level: LogLevel, subsystem: String, message: String, fields: [Field] = []) {
        self.level = level
        self.subsystem = subsystem
        self.message = message
        self.fields = fields
    }

    /// `subsystem: Message name=value name="value with spaces"`.
    package var line: String {
        fields.reduce("\(subsystem): \(Self.oneLine(message))") { "\($0) \($1.name)=\(Self.quoted($1.value))" }
    }

    /// What cannot be seen made visible: a name that a peer chose must not forge a line or steer a terminal.
    private static func oneLine(_ text: String) -> String { VisibleText.escape(text) }

    private static func quoted(_ value: String) -> String {
        let text = oneLine(value)
        let isPlain = !text.isEmpty && !text.utf8.contains { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\"") }
        guard !isPlain else { return text }
        return "\"" + text.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\\\"") + "\""
    }
}
