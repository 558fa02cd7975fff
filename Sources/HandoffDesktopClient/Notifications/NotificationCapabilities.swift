/// What a notification server can do, as far as it matters here.
package struct NotificationCapabilities: Sendable, Equatable {
    /// The user can choose something.
    package let hasActions: Bool
    /// There is more than one line.
    package let hasBody: Bool
    /// The body is read as markup, so that text has to be escaped.
    package let hasMarkup: Bool

    /// - Parameter names: as `GetCapabilities` answers them.
    package init(_ names: [String]) {
        hasActions = names.contains("actions")
        hasBody = names.contains("body")
        hasMarkup = names.contains("body-markup")
    }
}
