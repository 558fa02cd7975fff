/// What proves to the desktop that the user has just asked for a window, so that the app may come to the front
/// (xdg-activation, startup-notification). Comes from the notification server, and goes to the app that is started.
package struct ActivationToken: Sendable, Equatable {
    /// The greatest token that is taken, in bytes; real ones have less than a hundred.
    static let most = 1024

    /// Printable ASCII: it becomes the value of a variable.
    package let text: String

    /// Nil for a text that is none.
    package init?(_ text: String) {
        guard (1...Self.most).contains(text.utf8.count), text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
            return nil
        }
        self.text = text
    }

    /// The variables by which programs are given it: on Wayland and in newer toolkits, and on X11.
    package var variables: [String: String] {
        Dictionary(uniqueKeysWithValues: Self.variableNames.map { ($0, text) })
    }

    /// The names of those variables.
    package static let variableNames = ["XDG_ACTIVATION_TOKEN", "DESKTOP_STARTUP_ID"]
}
