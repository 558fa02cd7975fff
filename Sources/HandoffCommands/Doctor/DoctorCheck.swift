package import HandoffJSON

/// What came of one check of `doctor`.
package struct DoctorCheck: Equatable, Sendable {
    /// How it is; the raw values are the words of `--json`.
    package enum State: String, Sendable {
        /// As it should be.
        case ok
        /// It may stop a handoff, or nobody can tell.
        case warning
        /// It stops handoffs.
        case problem
    }

    /// What was looked at: one word, stable.
    package let name: String
    package let state: State
    /// What was found, as a sentence in lower case.
    package let message: String
    /// What to do about it; nil where there is nothing to do.
    package let remedy: String?

    package init(_ name: String, _ state: State, _ message: String, remedy: String? = nil) {
        self.name = name
        self.state = state
        self.message = message
        self.remedy = remedy
    }

    /// The check as `--json` prints it.
    package var json: JSONObject {
        [
            "check": .string(name), "state": .string(state.rawValue), "message": .string(message),
            "remedy": remedy.map { .string($0) } ?? .null,
        ]
    }
}
