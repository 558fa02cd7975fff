package import HandoffControl

/// A notification as a notification server is given it (Desktop Notifications Specification 1.2). Plain values.
package struct DesktopNotification: ControlValue {
    /// Something that the user can choose.
    package struct Choice: Codable, Equatable, Sendable {
        /// What the server names when it was chosen; `default` is a click on the notification itself.
        package let key: String
        /// What is written on the button.
        package let label: String

        package init(key: String, label: String) {
            self.key = key
            self.label = label
        }
    }

    /// One line, never markup.
    package var summary: String
    /// Markup, if the server has the capability `body-markup`, and then escaped by whoever wrote it; else plain text.
    package var body: String
    /// The name of an icon of the desktop's theme.
    package var icon: String
    /// What the user can choose; none for servers without the capability `actions`.
    package var choices: [Choice]
    /// 1 for one that the user waits for or is asked by; 0 or nil for one that desktops may show without attracting attention.
    package var urgency: Int64?

    private enum CodingKeys: String, CodingKey {
        case summary, body, icon, urgency
        case choices = "actions"
    }

    /// A notification of these parts; nothing in it may be NUL.
    package init(summary: String, body: String, icon: String, choices: [Choice], urgency: Int64? = nil) {
        self.summary = summary
        self.body = body
        self.icon = icon
        self.choices = choices
        self.urgency = urgency
    }
}

extension DesktopNotification {
    /// The longest line and the longest name, in bytes; what is shown is cut far below by whoever makes it.
    static let maxLine = 4096
    static let maxName = 256
    /// The most actions of one notification.
    static let maxActions = 8

    /// Nothing is longer than a notification needs, and nothing NUL.
    package func check() throws(VarlinkError) {
        guard choices.count <= Self.maxActions else { throw .invalidParameter("actions") }
        for (position, choice) in choices.enumerated() {
            try Self.check(choice.key, most: Self.maxName, "actions[\(position)].key")
            try Self.check(choice.label, most: Self.maxName, "actions[\(position)].label")
        }
        // A critical one would stay until the user closes it, also over a full screen.
        guard (0...1).contains(urgency ?? 0) else { throw .invalidParameter("urgency") }
        try Self.check(summary, most: Self.maxLine, "summary")
        try Self.check(body, most: Self.maxLine, "body")
        try Self.check(icon, most: Self.maxName, "icon")
    }

    private static func check(_ text: String, most: Int, _ path: String) throws(VarlinkError) {
        guard text.utf8.count <= most, !text.utf8.contains(0) else { throw .invalidParameter(path) }
    }
}
