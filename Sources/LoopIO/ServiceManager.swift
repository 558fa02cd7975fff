import CSystemd
import Glibc

/// What a service says to and gets from the service manager that started it; without one all of it does nothing.
package enum ServiceManager {
    /// Tells the manager about our state (sd_notify(3)), for example `READY=1` or `STATUS=…`, one assignment per line.
    /// - Returns: whether there is a manager that was told.
    @discardableResult
    package static func notify(_ state: String) -> Bool {
        sd_notify(0, state) > 0
    }

    /// Shows people a line in `systemctl status`; an empty one takes it away.
    package static func notifyStatus(_ text: String) {
        notify("STATUS=" + text.split(whereSeparator: \.isNewline).joined(separator: "; "))
    }

    /// The sockets of our socket unit (sd_listen_fds_with_names(3)); they are this process's alone from now on.
    ///
    /// Call it once, before other threads start: it takes the variables out of the environment, so that programs that we
    /// start do not think the sockets are theirs.
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
