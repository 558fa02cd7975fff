import Glibc
import HandoffControl
import LoopIO

/// Where an app finds the daemon.
enum AppSocket {
    /// `$HANDOFF_SOCKET`, else the app socket where there is one, else the control socket.
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
