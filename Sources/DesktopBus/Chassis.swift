import CSystemdBus
import Glibc

/// The type of this machine.
package enum Chassis {
    /// The chassis as `org.freedesktop.hostname1` names it (hostnamectl(1)): `laptop`, `desktop`, `vm` and so on.
    ///
    /// Queries the system bus and can take 25 s: use a worker thread.
    /// - Returns: Nil if there is no bus or no such service, or if the service does not know the
    ///   chassis.
    package static func name() -> String? {
        var bus: OpaquePointer?
        guard sd_bus_open_system(&bus) >= 0 else { return nil }
        defer { sd_bus_flush_close_unref(bus) }
        var text: UnsafeMutablePointer<CChar>?
        let result = sd_bus_get_property_string(
            bus, "org.freedesktop.hostname1", "/org/freedesktop/hostname1", "org.freedesktop.hostname1", "Chassis", nil,
            &text)
        guard result >= 0, let text else { return nil }
        defer { free(text) }
        let chassis = String(cString: text)
        return chassis.isEmpty ? nil : chassis
    }
}
