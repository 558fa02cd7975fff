import CSystemd
import Glibc

/// A new unit of the user's service manager, in which one program runs: outside of our own unit, and of its sandbox.
///
/// All calls wait for the manager: for a thread of their own.
package struct TransientUnit: Sendable {
    /// Why the program does not run.
    package enum Problem: Error, Equatable, Sendable {
        /// There is no manager of the user's: no bus, or it is not there.
        case noManager(String)
        /// The manager refused, or did not answer; its words.
        case refused(String)
        /// The program could not be started, or ended with a failure; what the manager says of it.
        case ended(String)
    }

    /// The manager has other things to do as well; in microseconds.
    private static let patience: UInt64 = 10_000_000
    private static let manager = "org.freedesktop.systemd1"
    private static let managerPath = "/org/freedesktop/systemd1"
    private static let managerInterface = "org.freedesktop.systemd1.Manager"
    private static let unitInterface = "org.freedesktop.systemd1.Unit"
    private static let endProperty = "InactiveEnterTimestampMonotonic"
    private static let serviceInterface = "org.freedesktop.systemd1.Service"

    /// The name, with `.service`.
    private let name: String
    /// For people, in lists of units.
    private let description: String
    /// The program by absolute path, and its arguments; none of them is expanded.
    private let words: [String]
    /// Variables beside those of the manager, as `NAME=VALUE`.
    private let variables: [String]

    package init(name: String, description: String, words: [String], variables: [String]) {
        self.name = name
        self.description = description
        self.words = words
        self.variables = variables
    }

    /// Starts the unit (`StartTransientUnit`), and watches for a while how the program fares.
    ///
    /// - Parameter watching: how long; a program that still runs then is well.
    /// - Throws: `Problem`; after `.noManager` nothing was started.
    package func start(watching: Duration) throws(Problem) {
        let bus = try UserBus()
        // Without it no signals come. Who cannot subscribe sees less, and no worse.
        try? bus.call(Self.manager, Self.managerPath, Self.managerInterface, "Subscribe") { _ in }
        do throws(UserBus.Failure) {
            try startUnit(bus, endsWithGroup: true)
        } catch {
            guard !error.isNoManager else { throw .noManager(error.message) }
            // Before systemd 250 a unit cannot outlive its first program.
            guard error.isAboutProperties else { throw .refused(error.message) }
            do throws(UserBus.Failure) {
                try startUnit(bus, endsWithGroup: false)
            } catch {
                throw .refused(error.message)
            }
        }
        try watch(bus, for: watching)
    }

    private func startUnit(_ bus: borrowing UserBus, endsWithGroup: Bool) throws(UserBus.Failure) {
        try bus.call(Self.manager, Self.managerPath, Self.managerInterface, "StartTransientUnit") { message in
            message.append(name)
            message.append("fail")
            message.container("a", "(sv)") { properties in
                properties.property("Description", description)
                properties.property("Type", "exec")
                properties.property("Slice", "app.slice")
                properties.property("CollectMode", "inactive-or-failed")
                // Apps go on when the launcher has ended.
                if endsWithGroup {
                    properties.property("ExitType", "cgroup")
                } else {
                    properties.property("KillMode", "process")
                }
                // Keeps what is known of the unit for as long as we are connected.
                properties.property("AddRef", signature: "b") { $0.append(true) }
                properties.property("Environment", signature: "as") { value in
                    value.container("a", "s") { list in
                        for variable in variables { list.append(variable) }
                    }
                }
                properties.property("ExecStartEx", signature: "a(sasas)") { value in
                    value.container("a", "(sasas)") { commands in
                        commands.container("r", "sasas") { command in
                            command.append(words.first ?? "")
                            command.container("a", "s") { list in
                                for word in words { list.append(word) }
                            }
                            command.container("a", "s") { flags in
                                // The manager would put the values of its variables in the place of `$NAME`.
                                flags.append("no-env-expand")
                            }
                        }
                    }
                }
            }
            message.container("a", "(sa(sv))") { _ in }
        }
    }

    /// Returns when the program has ended well, or has run for as long as it was to be watched.
    private func watch(_ bus: borrowing UserBus, for patience: Duration) throws(Problem) {
        guard let path = UserBus.unitPath(name) else { return }
        let clock = ContinuousClock()
        let end = clock.now + patience
        while true {
            guard let state = bus.text(Self.manager, path, Self.unitInterface, "ActiveState") else { return }
            switch state {
            case "failed": throw Self.failure(bus, path) ?? .ended("its unit failed")
            case "inactive":
                // So it is before its start, too, and it may have begun and failed since that was asked for.
                let ended: UInt64? = bus.number(Self.manager, path, Self.unitInterface, Self.endProperty, "t")
                if ended ?? 1 != 0 {
                    if let failure = Self.failure(bus, path) { throw failure }
                    return
                }
            default: break
            }
            let left = end - clock.now
            guard left > .zero, bus.waitForSignal(left) else { return }
        }
    }

    /// How the program of a unit failed; nil when it did not, as far as the manager says.
    private static func failure(_ bus: borrowing UserBus, _ path: String) -> Problem? {
        guard let result = bus.text(manager, path, serviceInterface, "Result"), result != "success" else { return nil }
        let status: Int32 = bus.number(manager, path, serviceInterface, "ExecMainStatus", "i") ?? 0
        return .ended(result == "exit-code" ? "it ended with status \(status)" : "its unit failed: \(result)")
    }
}

/// A connection to the bus of the user, for one thread.
private struct UserBus: ~Copyable {
    /// What a call came to.
    struct Failure: Error {
        let name: String
        let message: String

        var isNoManager: Bool {
            [
                "org.freedesktop.DBus.Error.ServiceUnknown", "org.freedesktop.DBus.Error.NameHasNoOwner",
                "org.freedesktop.DBus.Error.UnknownObject", "org.freedesktop.DBus.Error.Disconnected",
            ].contains(name) || name.hasPrefix("org.freedesktop.DBus.Error.Spawn.")
        }

        var isAboutProperties: Bool {
            ["PropertyReadOnly", "InvalidArgs", "UnknownProperty"].contains {
                name == "org.freedesktop.DBus.Error." + $0
            }
        }
    }

    private let bus: OpaquePointer

    init() throws(TransientUnit.Problem) {
        var bus: OpaquePointer?
        let result = sd_bus_open_user(&bus)
        guard result >= 0, let bus else { throw .noManager("\(Errno(rawValue: 0 &- result))") }
        self.bus = bus
        sd_bus_set_method_call_timeout(bus, 10_000_000)
        // The messages are read by asking anew, so that the callback has nothing to do.
        sd_bus_match_signal(
            bus, nil, "org.freedesktop.systemd1", nil, "org.freedesktop.DBus.Properties", "PropertiesChanged",
            { _, _, _ in 0 }, nil)
    }

    deinit {
        sd_bus_flush_close_unref(bus)
    }

    func call(
        _ service: String, _ path: String, _ interface: String, _ method: String, _ fill: (inout BusMessage) -> Void
    ) throws(Failure) {
        var pointer: OpaquePointer?
        let made = sd_bus_message_new_method_call(bus, &pointer, service, path, interface, method)
        guard made >= 0, let pointer else { throw Self.failure(made) }
        defer { sd_bus_message_unref(pointer) }
        // A manager that is not there is none that a bus could start.
        sd_bus_message_set_auto_start(pointer, 0)
        var message = BusMessage(pointer)
        fill(&message)
        guard message.result >= 0 else { throw Self.failure(message.result) }
        var error = sd_bus_error()
        defer { sd_bus_error_free(&error) }
        let result = sd_bus_call(bus, pointer, 0, &error, nil)
        guard result < 0 else { return }
        guard let name = error.name else { throw Self.failure(result) }
        throw Failure(
            name: String(cString: name), message: error.message.map { String(cString: $0) } ?? String(cString: name))
    }

    func text(_ service: String, _ path: String, _ interface: String, _ property: String) -> String? {
        var text: UnsafeMutablePointer<CChar>?
        guard sd_bus_get_property_string(bus, service, path, interface, property, nil, &text) >= 0, let text else {
            return nil
        }
        defer { free(text) }
        return String(cString: text)
    }

    /// - Parameter type: the type of the bus that `Number` is, as in sd_bus_message_read_basic(3).
    func number<Number: FixedWidthInteger>(
        _ service: String, _ path: String, _ interface: String, _ property: String, _ type: Unicode.Scalar
    ) -> Number? {
        var value: Number = 0
        let type = CChar(UInt8(ascii: type))
        guard sd_bus_get_property_trivial(bus, service, path, interface, property, nil, type, &value) >= 0 else {
            return nil
        }
        return value
    }

    /// - Returns: false when no signal came in time, or none can come.
    func waitForSignal(_ time: Duration) -> Bool {
        while true {
            let done = sd_bus_process(bus, nil)
            if done < 0 { return false }
            if done > 0 { return true }
            let microseconds =
                UInt64(clamping: time.components.seconds) * 1_000_000
                + UInt64(clamping: time.components.attoseconds / 1_000_000_000_000)
            guard sd_bus_wait(bus, microseconds) > 0 else { return false }
        }
    }

    /// The object of a unit on the bus.
    static func unitPath(_ unit: String) -> String? {
        var path: UnsafeMutablePointer<CChar>?
        guard sd_bus_path_encode("/org/freedesktop/systemd1/unit", unit, &path) >= 0, let path else { return nil }
        defer { free(path) }
        return String(cString: path)
    }

    private static func failure(_ result: Int32) -> Failure {
        let error = Errno(rawValue: 0 &- result)
        let isGone = [ECONNRESET, ENOTCONN, EPIPE].contains(error.rawValue)
        return Failure(name: isGone ? "org.freedesktop.DBus.Error.Disconnected" : "", message: "\(error)")
    }
}
