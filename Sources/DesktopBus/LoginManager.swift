/// The manager of systemd-logind on the system bus (org.freedesktop.login1(5)).
enum LoginManager {
    static let service = "org.freedesktop.login1"
    static let path = "/org/freedesktop/login1"
    static let interface = "org.freedesktop.login1.Manager"

    /// An operation of the machine.
    enum Operation: String, CaseIterable {
        case sleep
        case shutdown

        /// The signal that announces it, with true, and its end, with false. A shutdown that was not
        /// cancelled has no end.
        var signal: String { "PrepareFor\(name)" }
        /// The property that is true from the announcement until the end.
        var property: String { "PreparingFor\(name)" }

        private var name: String {
            switch self {
            case .sleep: "Sleep"
            case .shutdown: "Shutdown"
            }
        }
    }

    /// The effect of an inhibitor lock.
    enum Mode: String {
        /// The operation is refused while the lock is held.
        case block
        /// The operation begins when the lock is released, or after some seconds.
        case delay
    }

    /// Writes the arguments of `Inhibit` for a lock.
    ///
    /// - Parameters:
    ///   - what: The operation that it affects.
    ///   - who: The display name of the program.
    ///   - why: The reason, for display.
    static func inhibit(_ message: inout BusMessage, what: Operation, who: String, why: String, mode: Mode) {
        for text in [what.rawValue, who, why, mode.rawValue] { message.append(text) }
    }
}
