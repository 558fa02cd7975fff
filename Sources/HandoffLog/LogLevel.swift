/// How much a line of the log matters, and to whom.
package enum LogLevel: Int, Comparable, CaseIterable, Sendable {
    /// For us while developing.
    case debug
    /// Helpful to somebody who looks for a cause.
    case info
    /// What an operator needs to know; the level that is shown by default.
    case notice
    /// Something outside went wrong: a peer, a file, the network.
    case error
    /// A bug of ours.
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

    /// The level of that name; nil for any other text.
    package init?(name: some StringProtocol) {
        guard let level = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = level
    }

    /// The journal's priority (syslog(3)): 7 debug, 6 info, 5 notice, 3 error, 2 critical.
    package var priority: Int {
        switch self {
        case .debug: 7
        case .info: 6
        case .notice: 5
        case .error: 3
        case .fault: 2
        }
    }
}
