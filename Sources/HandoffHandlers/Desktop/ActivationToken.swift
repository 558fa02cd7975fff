/// A token that proves to the desktop that the user has just requested a window, so that the app
/// may come to the front (xdg-activation, startup-notification). The notification server sends it,
/// and the started app receives it.
package struct ActivationToken: Sendable, Equatable {
    /// The maximum length, in bytes; real tokens have less than a hundred.
    static let maxLength = 1024

    /// Printable ASCII, because it becomes the value of an environment variable.
    package let text: String

    /// Nil if the text is not a valid token.
    package init?(_ text: String) {
        guard (1...Self.maxLength).contains(text.utf8.count), text.utf8.allSatisfy({ (0x20...0x7E).contains($0) })
        else {
            return nil
        }
        self.text = text
    }

    /// The environment variables that pass the token to programs: one for Wayland and newer
    /// toolkits, one for X11.
    package var variables: [String: String] {
        Dictionary(uniqueKeysWithValues: Self.variableNames.map { ($0, text) })
    }

    /// The names of these variables.
    package static let variableNames = ["XDG_ACTIVATION_TOKEN", "DESKTOP_STARTUP_ID"]
}
