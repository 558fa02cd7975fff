package import HandoffControl
package import HandoffJSON

/// A notification as a notification server is given it (Desktop Notifications Specification 1.2). Plain values.
package struct DesktopNotification: Sendable, Equatable {
    /// Something that the user can choose.
    package struct Choice: Sendable, Equatable {
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

    /// A notification of these parts; nothing in it may be NUL.
    package init(summary: String, body: String, icon: String, choices: [Choice]) {
        self.summary = summary
        self.body = body
        self.icon = icon
        self.choices = choices
    }
}

extension DesktopNotification {
    /// The longest line and the longest name, in bytes; what is shown is cut far below by whoever makes it.
    static let maxLine = 4096
    static let maxName = 256
    /// The most actions of one notification.
    static let maxActions = 8

    /// The fields of a `Notification`.
    package var json: JSONObject {
        [
            "summary": .string(summary), "body": .string(body), "icon": .string(icon),
            "actions": .array(
                choices.map { .object(["key": .string($0.key), "label": .string($0.label)]) }),
        ]
    }

    /// Reads the fields: nothing may be longer than a notification needs, and nothing NUL.
    /// - Throws: `invalidParameter`.
    package init(_ fields: Fields) throws(VarlinkError) {
        let actions = try fields.list("actions")
        guard actions.count <= Self.maxActions else { throw fields.invalid("actions") }
        var choices: [Choice] = []
        for action in actions {
            choices.append(
                Choice(
                    key: try action.shortText("key", most: Self.maxName),
                    label: try action.shortText("label", most: Self.maxName)))
        }
        self.init(
            summary: try fields.shortText("summary", most: Self.maxLine),
            body: try fields.shortText("body", most: Self.maxLine),
            icon: try fields.shortText("icon", most: Self.maxName), choices: choices)
    }
}

extension Fields {
    /// A text of so many bytes at most, without NUL.
    func shortText(_ key: String, most: Int) throws(VarlinkError) -> String {
        let text = try text(key)
        guard text.utf8.count <= most, !text.utf8.contains(0) else { throw invalid(key) }
        return text
    }
}
