import CSystemd
import Glibc

/// The communication with the service manager that started this process. Without one, all
/// operations do nothing.
package enum ServiceManager {
    /// Notifies the manager of this service's state (sd_notify(3)), for example `READY=1` or
    /// `STATUS=…`, one assignment per line.
    /// - Returns: true if a manager was notified.
    @discardableResult
    package static func notify(_ state: String) -> Bool {
        sd_notify(0, state) > 0
    }

    /// Sets the status line shown by `systemctl status`. An empty text removes it.
    package static func notifyStatus(_ text: String) {
        notify("STATUS=" + text.split(whereSeparator: \.isNewline).joined(separator: "; "))
    }

    /// Returns the sockets of this service's socket unit (sd_listen_fds_with_names(3)). This
    /// process then owns them.
    ///
    /// Call it once, before other threads start. It removes the variables from the environment, so
    /// that programs this process starts do not use the sockets.
    package static func listenDescriptors() -> [PassedSocket] {
        var names: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
        let count = sd_listen_fds_with_names(1, &names)
        guard count > 0 else { return [] }
        defer { free(names) }
        return (0..<count).map { index in
            var name = ""
            if let text = names?[Int(index)] {
                name = String(cString: text)
                free(text)
            }
            // SD_LISTEN_FDS_START: the first descriptor after standard error.
            let descriptor = 3 + index
            return PassedSocket(name: name, path: UnixSocket.path(of: descriptor), descriptor: descriptor)
        }
    }
}
