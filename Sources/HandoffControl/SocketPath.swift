/// Where the daemon's sockets are.
package enum SocketPath {
    /// The longest path that fits `sockaddr_un.sun_path` with its NUL, in bytes (unix(7)).
    package static let maxByteCount = 107

    /// The socket for the user's own tools: `handoff/control.socket` in the runtime folder.
    ///
    /// - Parameters:
    ///   - runtimeDirectory: the value of `XDG_RUNTIME_DIR`; ignored unless it is absolute, as its specification says.
    ///   - userID: whose `/run/user/UID` it is otherwise.
    package static func control(runtimeDirectory: String?, userID: UInt32) -> String {
        folder(runtimeDirectory, userID) + "/handoff/control.socket"
    }

    /// The socket for apps, in a folder of its own that can be given to a sandbox: `handoff-app/app.socket`.
    package static func app(runtimeDirectory: String?, userID: UInt32) -> String {
        folder(runtimeDirectory, userID) + "/handoff-app/app.socket"
    }

    /// The socket at which the daemon finds the user's desktop: `handoff-desktop/desktop.socket`.
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
