import HandoffHandlers

/// The relevant capabilities of a notification server.
package struct NotificationCapabilities: Sendable, Equatable {
    /// The server supports actions.
    let hasActions: Bool
    /// The server shows a body text.
    let hasBody: Bool
    /// The server parses the body as markup, so text must be escaped.
    let hasMarkup: Bool
    /// The user can choose where items are saved.
    let savesItems: Bool

    /// - Parameter names: The names from `GetCapabilities`.
    package init(_ names: [String]) {
        hasActions = names.contains("actions")
        hasBody = names.contains("body")
        hasMarkup = names.contains("body-markup")
        savesItems = names.contains(NotificationCapability.savesItems)
    }
}
