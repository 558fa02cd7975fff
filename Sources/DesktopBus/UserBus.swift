import CSystemdBus
import Glibc
import LoopIO

/// A connection to the bus of the user, for one thread.
struct UserBus: ~Copyable {
    /// What a call came to.
    struct Failure: Error {
        /// The error's name on the bus; empty for one of the system.
        let name: String
        /// For people.
        let message: String

        /// There is nobody to call: no bus, or nobody on it who has the name, and none whom the bus could start.
        var isUnreachable: Bool {
            [
                "org.freedesktop.DBus.Error.ServiceUnknown", "org.freedesktop.DBus.Error.NameHasNoOwner",
                "org.freedesktop.DBus.Error.UnknownObject", "org.freedesktop.DBus.Error.Disconnected",
            ].contains(name) || name.hasPrefix("org.freedesktop.DBus.Error.Spawn.")
        }

        var isAboutProperties: Bool { isOne(of: "PropertyReadOnly", "InvalidArgs", "UnknownProperty") }

        /// Who was called is there, and has no such method.
        var isAboutMethod: Bool { isOne(of: "UnknownMethod", "UnknownObject", "UnknownInterface") }

        /// No answer came: in time, or since who was called has gone.
        var isNoReply: Bool { isOne(of: "NoReply", "Timeout") }

        private func isOne(of errors: String...) -> Bool {
            errors.contains { name == "org.freedesktop.DBus.Error." + $0 }
        }
    }

    private static let disconnected = "org.freedesktop.DBus.Error.Disconnected"
    /// Who is called has other things to do as well; in microseconds.
    private static let timeout: UInt64 = 10_000_000

    private let bus: OpaquePointer

    /// - Throws: why there is no bus; `isUnreachable` holds.
    init() throws(Failure) {
        var bus: OpaquePointer?
        let result = sd_bus_open_user(&bus)
        guard result >= 0, let bus else {
            throw Failure(name: Self.disconnected, message: "\(Errno(rawValue: 0 &- result))")
        }
        self.bus = bus
        sd_bus_set_method_call_timeout(bus, Self.timeout)
    }

    deinit {
        sd_bus_flush_close_unref(bus)
    }

    /// Has `waitForSignal` return when a property of a service changes.
    func followProperties(of service: String) {
        // What has changed is asked for anew, so that the callback has nothing to do.
        sd_bus_match_signal(
            bus, nil, service, nil, LoopBus.propertiesInterface, "PropertiesChanged", { _, _, _ in 0 }, nil)
    }

    /// Calls a method, and waits for its end.
    ///
    /// - Parameters:
    ///   - activates: whether the bus may start the service.
    ///   - patience: how long to wait; nil: 10 s.
    ///   - fill: writes the arguments.
    func call(
        _ service: String, _ path: String, _ interface: String, _ method: String, activates: Bool = false,
        within timeout: Duration? = nil, _ fill: (inout BusMessage) -> Void
    ) throws(Failure) {
        var pointer: OpaquePointer?
        let made = sd_bus_message_new_method_call(bus, &pointer, service, path, interface, method)
        guard made >= 0, let pointer else { throw Self.failure(made) }
        defer { sd_bus_message_unref(pointer) }
        sd_bus_message_set_auto_start(pointer, activates ? 1 : 0)
        var message = BusMessage(pointer)
        fill(&message)
        guard message.result >= 0 else { throw Self.failure(message.result) }
        var error = sd_bus_error()
        defer { sd_bus_error_free(&error) }
        let result = sd_bus_call(bus, pointer, timeout.map(Self.microseconds) ?? 0, &error, nil)
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
        let type = BusReader.type(type)
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
            guard sd_bus_wait(bus, Self.microseconds(time)) > 0 else { return false }
        }
    }

    private static func microseconds(_ time: Duration) -> UInt64 {
        UInt64(clamping: time.components.seconds) &* 1_000_000
            &+ UInt64(clamping: time.components.attoseconds / 1_000_000_000_000)
    }

    private static func failure(_ result: Int32) -> Failure {
        let error = Errno(rawValue: 0 &- result)
        let isGone = [ECONNRESET, ENOTCONN, EPIPE].contains(error.rawValue)
        return Failure(name: isGone ? disconnected : "", message: "\(error)")
    }
}
