import Glibc
import HandoffControl
import LoopIO

/// The location of the daemon's socket.
enum AppSocket {
    /// Returns `$HANDOFF_SOCKET` if set, else the app socket if it exists, else the control socket
    /// if it exists, else the path of the app socket.
    static func path() -> String {
        if let path = ProcessEnvironment.value("HANDOFF_SOCKET"), !path.isEmpty { return path }
        let folder = ProcessEnvironment.value("XDG_RUNTIME_DIR")
        let user = ProcessEnvironment.userID
        let app = SocketPath.app(runtimeDirectory: folder, userID: user)
        if access(app.systemPath, F_OK) == 0 { return app }
        let control = SocketPath.control(runtimeDirectory: folder, userID: user)
        return access(control.systemPath, F_OK) == 0 ? control : app
    }
}
