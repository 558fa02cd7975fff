/// The paths of the daemon's sockets.
package enum SocketPath {
    /// Maximum length in bytes of a path that fits into `sockaddr_un.sun_path` with its NUL
    /// (unix(7)).
    static let maxByteCount = 107

    /// The socket for the user's own tools: `handoff/control.socket` in the runtime folder.
    ///
    /// - Parameters:
    ///   - runtimeDirectory: the value of `XDG_RUNTIME_DIR`. Ignored unless absolute, as its
    ///     specification requires.
    ///   - userID: the user whose `/run/user/UID` is used otherwise.
    package static func control(runtimeDirectory: String?, userID: UInt32) -> String {
        folder(runtimeDirectory, userID) + "/handoff/control.socket"
    }

    /// The socket for apps, in its own folder that can be shared with a sandbox:
    /// `handoff-app/app.socket`.
    package static func app(runtimeDirectory: String?, userID: UInt32) -> String {
        folder(runtimeDirectory, userID) + "/handoff-app/app.socket"
    }

    /// The socket of the user's desktop services for the daemon: `handoff-desktop/desktop.socket`.
    package static func desktop(runtimeDirectory: String?, userID: UInt32) -> String {
        folder(runtimeDirectory, userID) + "/handoff-desktop/desktop.socket"
    }

    private static func folder(_ runtimeDirectory: String?, _ userID: UInt32) -> String {
        guard var folder = runtimeDirectory, folder.utf8.first == UInt8(ascii: "/") else {
            return "/run/user/\(userID)"
        }
        while folder.utf8.count > 1, folder.utf8.last == UInt8(ascii: "/") { folder.removeLast() }
        return folder
    }
}
