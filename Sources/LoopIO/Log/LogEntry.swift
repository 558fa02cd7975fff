import HandoffModel

/// A log entry before a sink formats it.
package struct LogEntry: Sendable, Equatable {
    /// A named value of an entry.
    package struct Field: Sendable, Equatable {
        package let name: String
        package let value: String
    }

    let level: LogLevel
    /// The part of the program that logs, such as `discovery`.
    let subsystem: String
    /// A sentence without a full stop.
    package let message: String
    /// The details of the message, in the order of the call.
    var fields: [Field] = []

    /// The entry in the form `subsystem: Message name=value name="value with spaces"`.
    package var line: String {
        fields.reduce("\(subsystem): \(Self.oneLine(message))") { "\($0) \($1.name)=\(Self.quoted($1.value))" }
    }

    /// Makes invisible characters visible: a name chosen by a peer must not forge a line or control
    /// a terminal.
    private static func oneLine(_ text: String) -> String { VisibleText.escape(text) }

    private static func quoted(_ value: String) -> String {
        let text = oneLine(value)
        let isPlain = !text.isEmpty && !text.utf8.contains { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\"") }
        guard !isPlain else { return text }
        return "\"" + text.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\\\"") + "\""
    }
}

/// The importance of a log entry.
package enum LogLevel: Int, Comparable, CaseIterable, Sendable {
    /// For developers of this program.
    case debug
    /// For users who investigate a problem.
    case info
    /// For operators. The default level.
    case notice
    /// A failure outside this program: a peer, a file, the network.
    case error
    /// A bug in this program.
    case fault

    package static func < (left: LogLevel, right: LogLevel) -> Bool {
        left.rawValue < right.rawValue
    }

    /// The level's name in options and configuration.
    package var name: String {
        switch self {
        case .debug: "debug"
        case .info: "info"
        case .notice: "notice"
        case .error: "error"
        case .fault: "fault"
        }
    }

    /// Returns the level of that name, or nil for any other text.
    package init?(name: some StringProtocol) {
        guard let level = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = level
    }

    /// The journal's priority (syslog(3)): 7 debug, 6 info, 5 notice, 3 error, 2 critical.
    var priority: Int {
        switch self {
        case .debug: 7
        case .info: 6
        case .notice: 5
        case .error: 3
        case .fault: 2
        }
    }
}
