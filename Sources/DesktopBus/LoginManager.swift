/// The manager of systemd-logind on the system bus (org.freedesktop.login1(5)).
enum LoginManager {
    static let service = "org.freedesktop.login1"
    static let path = "/org/freedesktop/login1"
    static let interface = "org.freedesktop.login1.Manager"

    /// What a lock does to sleep.
    enum Mode: String {
        /// The machine does not sleep while it is held.
        case block
        /// The machine sleeps once it is let go, or after some seconds.
        case delay
    }

    /// The arguments of `Inhibit` for a lock against sleep.
    ///
    /// - Parameters:
    ///   - who: the program, as people know it.
    ///   - why: for people, too.
    static func inhibit(_ message: inout BusMessage, who: String, why: String, mode: Mode) {
        for text in ["sleep", who, why, mode.rawValue] { message.append(text) }
    }
}
