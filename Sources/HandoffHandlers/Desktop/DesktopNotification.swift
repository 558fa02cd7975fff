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
        package let label: Phrase

        package init(key: String, label: Phrase) {
            self.key = key
            self.label = label
        }
    }

    /// The parts of the summary. The first one is the headline.
    package var headline: [Phrase]
    /// The parts of the body; empty for servers without the capability `body`.
    package var details: [Phrase]
    /// True if the server has the capability `body-markup`, so that the body must be escaped.
    package var hasMarkup: Bool
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
        case icon, urgency, progress
        case headline = "summary"
        case details = "body"
        case hasMarkup = "markup"
        case choices = "actions"
    }

    /// Creates a notification. No text may contain NUL.
    package init(
        headline: [Phrase], details: [Phrase], hasMarkup: Bool = false, icon: String, choices: [Choice],
        urgency: Int64? = nil, progress: Int64? = nil
    ) {
        self.headline = headline
        self.details = details
        self.hasMarkup = hasMarkup
        self.icon = icon
        self.choices = choices
        self.urgency = urgency
        self.progress = progress
    }
}

extension DesktopNotification {
    /// Returns the summary, one line of plain text, and the body in a language.
    package func texts(_ translate: Phrase.Translation = Phrase.english) -> (summary: String, body: String) {
        let lines = headline.map { $0.text(translate) }
        let rest = lines.dropFirst().joined(separator: " · ")
        let body = details.map { $0.text(translate) }.joined(separator: " · ")
        return (
            [lines.first, rest.isEmpty ? nil : rest].compactMap(\.self).joined(separator: " – "),
            hasMarkup ? NotificationMarkup.escaped(body) : body
        )
    }

    /// The maximum length of a line and of a name, in bytes. Callers shorten texts far below these
    /// limits.
    static let maxLine = 4096
    static let maxName = 256
    /// The maximum number of actions.
    static let maxActions = 8

    /// Checks that no text is too long or contains NUL, in English.
    package func check() throws(VarlinkError) {
        guard choices.count <= Self.maxActions, choices.allSatisfy(\.label.isBounded) else {
            throw .invalidParameter("actions")
        }
        guard headline.allSatisfy(\.isBounded) else { throw .invalidParameter("summary") }
        guard details.allSatisfy(\.isBounded) else { throw .invalidParameter("body") }
        for (position, choice) in choices.enumerated() {
            try Self.check(choice.key, max: Self.maxName, "actions[\(position)].key")
            try Self.check(choice.label.text(), max: Self.maxName, "actions[\(position)].label")
        }
        // A critical notification would stay until the user closes it, even over a full-screen
        // window.
        guard (0...1).contains(urgency ?? 0) else { throw .invalidParameter("urgency") }
        guard (0...100).contains(progress ?? 0) else { throw .invalidParameter("progress") }
        let texts = texts()
        try Self.check(texts.summary, max: Self.maxLine, "summary")
        try Self.check(texts.body, max: Self.maxLine, "body")
        try Self.check(icon, max: Self.maxName, "icon")
    }

    private static func check(_ text: String, max: Int, _ path: String) throws(VarlinkError) {
        guard text.utf8.count <= max, !text.utf8.contains(0) else { throw .invalidParameter(path) }
    }
}
