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
