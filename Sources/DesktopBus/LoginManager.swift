/// The manager of systemd-logind on the system bus (org.freedesktop.login1(5)).
enum LoginManager {
    static let service = "org.freedesktop.login1"
    static let path = "/org/freedesktop/login1"
    static let interface = "org.freedesktop.login1.Manager"

    /// The effect of an inhibitor lock on sleep.
    enum Mode: String {
        /// The machine does not sleep while the lock is held.
        case block
        /// The machine sleeps when the lock is released, or after some seconds.
        case delay
    }

    /// Writes the arguments of `Inhibit` for a lock against sleep.
    ///
    /// - Parameters:
    ///   - who: The display name of the program.
    ///   - why: The reason, for display.
    static func inhibit(_ message: inout BusMessage, who: String, why: String, mode: Mode) {
        for text in ["sleep", who, why, mode.rawValue] { message.append(text) }
    }
}
