import HandoffControl
package import HandoffLog
package import LoopIO

/// What the daemon needs to know apps and to start them, from the process around it. Plain values.
package struct DesktopAccess: Sendable {
    /// Makes the way to the user's desktop, on the daemon's loop; nil where there is none.
    package let openDesktop: @Sendable (EventLoop, Logger) -> DesktopLink?
    /// Whether somebody may sit before a screen: sessions and notifications are of interest.
    package let hasScreen: Bool

    /// No apps but those that attach.
    package static let none = DesktopAccess(hasScreen: false, openDesktop: { _, _ in nil })

    /// Access with these parts.
    package init(
        hasScreen: Bool, openDesktop: @escaping @Sendable (EventLoop, Logger) -> DesktopLink?
    ) {
        self.hasScreen = hasScreen
        self.openDesktop = openDesktop
    }

    /// - Parameters:
    ///   - environment: the variables of this process.
    ///   - folder: where our own programs are.
    ///   - socket: the path at which apps find this daemon, if it is in no usual place.
    ///   - userID: whom the desktop belongs to.
    package init(environment: [String: String], folder: String?, socket: String?, userID: UInt32) {
        let path = SocketPath.desktop(runtimeDirectory: environment["XDG_RUNTIME_DIR"], userID: userID)
        // Of a relative path programs in other folders would make another.
        let place = socket.flatMap { $0.hasPrefix("/") ? ["--app-socket", $0] : nil } ?? []
        let words = folder.map { [$0 + "/handoff-desktop"] + place }
        let inherited = environment.filter { !Self.ours.contains($0.key) }
        self.init(
            hasScreen: true,
            openDesktop: { loop, log in
                let door = DesktopConnector(loop: loop, log: log, path: path, words: words, environment: inherited)
                return DesktopLink(loop: loop, log: log) { () throws(DesktopConnector.Problem) in try door.open() }
            })
    }

    /// What a service manager tells this process alone (sd_listen_fds(3), sd_notify(3)).
    private static let ours: Set<String> = [
        "NOTIFY_SOCKET", "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES", "WATCHDOG_PID", "WATCHDOG_USEC",
    ]
}
