import CSystemdBus
import Glibc
import LoopIO

/// A connection to the user's bus, for one thread.
struct UserBus: ~Copyable {
    /// An error of a call.
    struct Failure: Error {
        /// The D-Bus error name; empty for a system error.
        let name: String
        /// The error message, for display.
        let message: String

        /// True if there is no bus, or the called name has no owner and the bus cannot start one.
        var isUnreachable: Bool {
            [
                "org.freedesktop.DBus.Error.ServiceUnknown", "org.freedesktop.DBus.Error.NameHasNoOwner",
                "org.freedesktop.DBus.Error.UnknownObject", "org.freedesktop.DBus.Error.Disconnected",
            ].contains(name) || name.hasPrefix("org.freedesktop.DBus.Error.Spawn.")
        }

        var isAboutProperties: Bool { isOne(of: "PropertyReadOnly", "InvalidArgs", "UnknownProperty") }

        /// True if the called service is running but lacks the method.
        var isAboutMethod: Bool { isOne(of: "UnknownMethod", "UnknownObject", "UnknownInterface") }

        /// True if no reply arrived in time, or the called service ended.
        var isNoReply: Bool { isOne(of: "NoReply", "Timeout") }

        private func isOne(of errors: String...) -> Bool {
            errors.contains { name == "org.freedesktop.DBus.Error." + $0 }
        }
    }

    private static let disconnected = "org.freedesktop.DBus.Error.Disconnected"
    /// The default timeout of a call, in microseconds. Generous, because the called service may be
    /// busy.
    private static let timeout: UInt64 = 10_000_000

    private let bus: OpaquePointer

    /// - Throws: The reason why there is no bus; its `isUnreachable` is true.
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

    /// Makes `waitForSignal` return when a property of a service changes.
    func followProperties(of service: String) {
        // The callback does nothing, because the caller reads the properties again.
        sd_bus_match_signal(
            bus, nil, service, nil, LoopBus.propertiesInterface, "PropertiesChanged", { _, _, _ in 0 }, nil)
    }

    /// Calls a method, and waits until it returns.
    ///
    /// - Parameters:
    ///   - activates: If true, the bus may start the service.
    ///   - timeout: The time to wait; nil for 10 s.
    ///   - fill: Writes the arguments.
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

    /// - Parameter type: The D-Bus type of `Number`, as in sd_bus_message_read_basic(3).
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

    /// - Returns: False if no signal arrived in time, or none can arrive.
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
