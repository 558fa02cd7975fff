package import HandoffControl

/// A notification for a notification server (Desktop Notifications Specification 1.2). Plain
/// values.
package struct DesktopNotification: ControlValue {
    /// An action that the user can choose.
    package struct Choice: Codable, Equatable, Sendable {
        /// The key that the server reports when the action is chosen; `default` is a click on the
        /// notification itself.
        package let key: String
        /// The label of the button.
        package let label: String

        package init(key: String, label: String) {
            self.key = key
            self.label = label
        }
    }

    /// One line of plain text.
    package var summary: String
    /// Escaped markup if the server has the capability `body-markup`; otherwise plain text.
    package var body: String
    /// The name of an icon in the desktop's theme.
    package var icon: String
    /// The actions; empty for servers without the capability `actions`.
    package var choices: [Choice]
    /// 1 if the user waits for the notification or is asked for a decision. 0 or nil if desktops
    /// may show it without attracting attention.
    package var urgency: Int64?
    /// The progress in percent; nil for none. Shown only by servers that draw it beside the text.
    package var progress: Int64?

    private enum CodingKeys: String, CodingKey {
        case summary, body, icon, urgency, progress
        case choices = "actions"
    }

    /// Creates a notification. No text may contain NUL.
    package init(
        summary: String, body: String, icon: String, choices: [Choice], urgency: Int64? = nil,
        progress: Int64? = nil
    ) {
        self.summary = summary
        self.body = body
        self.icon = icon
        self.choices = choices
        self.urgency = urgency
        self.progress = progress
    }
}

extension DesktopNotification {
    /// The maximum length of a line and of a name, in bytes. Callers shorten texts far below these
    /// limits.
    static let maxLine = 4096
    static let maxName = 256
    /// The maximum number of actions.
    static let maxActions = 8

    /// Checks that no text is too long or contains NUL.
    package func check() throws(VarlinkError) {
        guard choices.count <= Self.maxActions else { throw .invalidParameter("actions") }
        for (position, choice) in choices.enumerated() {
            try Self.check(choice.key, max: Self.maxName, "actions[\(position)].key")
            try Self.check(choice.label, max: Self.maxName, "actions[\(position)].label")
        }
        // A critical notification would stay until the user closes it, even over a full-screen
        // window.
        guard (0...1).contains(urgency ?? 0) else { throw .invalidParameter("urgency") }
        guard (0...100).contains(progress ?? 0) else { throw .invalidParameter("progress") }
        try Self.check(summary, max: Self.maxLine, "summary")
        try Self.check(body, max: Self.maxLine, "body")
        try Self.check(icon, max: Self.maxName, "icon")
    }

    private static func check(_ text: String, max: Int, _ path: String) throws(VarlinkError) {
        guard text.utf8.count <= max, !text.utf8.contains(0) else { throw .invalidParameter(path) }
    }
}
