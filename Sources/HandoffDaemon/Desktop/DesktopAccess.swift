import HandoffControl
import LoopIO

/// The daemon's access to the desktop and its apps, provided by the process. Plain values.
struct DesktopAccess: Sendable {
    /// True if the device may have a screen, so that sessions and notifications are relevant.
    let hasScreen: Bool
    /// Opens the connection to the user's desktop, on the daemon's loop; nil if there is no
    /// desktop.
    let openDesktop: @Sendable (EventLoop, Logger) -> DesktopLink?

    /// No desktop: only apps that attach are known.
    static let none = DesktopAccess(hasScreen: false, openDesktop: { _, _ in nil })

    /// Variables that a service manager sets for this process only (sd_listen_fds(3),
    /// sd_notify(3)).
    private static let privateVariables: Set<String> = [
        "NOTIFY_SOCKET", "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES", "WATCHDOG_PID", "WATCHDOG_USEC",
    ]
}

extension DesktopAccess {
    /// - Parameters:
    ///   - environment: The environment of this process.
    ///   - folder: The folder of this project's programs.
    ///   - socket: The path where apps find this daemon; nil for the default.
    ///   - userID: The owner of the desktop.
    init(environment: [String: String], folder: String?, socket: String?, userID: UInt32) {
        let path = SocketPath.desktop(runtimeDirectory: environment["XDG_RUNTIME_DIR"], userID: userID)
        // A relative path is ignored, because it has another meaning in other working directories.
        let place = socket.flatMap { $0.hasPrefix("/") ? ["--app-socket", $0] : nil } ?? []
        let words = folder.map { [$0 + "/handoff-desktop"] + place }
        let inherited = environment.filter { !Self.privateVariables.contains($0.key) }
        self.init(
            hasScreen: true,
            openDesktop: { loop, log in
                let connector = DesktopConnector(loop: loop, log: log, path: path, words: words, environment: inherited)
                return DesktopLink(loop: loop, log: log) { () throws(DesktopConnector.Problem) in try connector.open() }
            })
    }
}
