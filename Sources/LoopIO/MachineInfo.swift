import CSystemd
import Glibc

/// What the system knows of the machine.
package enum MachineInfo {
    /// The chassis as `org.freedesktop.hostname1` names it (hostnamectl(1)): `laptop`, `desktop`, `vm` and so on.
    ///
    /// Asks over the system bus and may take seconds: for a worker's thread.
    /// - Returns: nil when there is no bus, no such service, or it does not know.
    package static func chassis() -> String? {
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

    /// How many processors are online (sysconf(3), _SC_NPROCESSORS_ONLN); 1 when the system does not say.
    package static var processors: Int {
        max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
    }

    /// The machine's own name, up to its first dot (gethostname(2)).
    package static func hostName() -> String? {
        var buffer = [CChar](repeating: 0, count: 256)
        guard gethostname(&buffer, buffer.count - 1) == 0 else { return nil }
        let bytes = buffer.prefix { $0 != 0 && $0 != CChar(UInt8(ascii: ".")) }.map { UInt8(bitPattern: $0) }
        return String(validating: bytes, as: UTF8.self).flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The unit of the user's service manager that a process runs in (sd_pid_get_user_unit(3)); nil when it is in none.
    package static func userUnit(ofProcess process: Int32) -> String? {
        var unit: UnsafeMutablePointer<CChar>?
        guard sd_pid_get_user_unit(process, &unit) >= 0, let unit else { return nil }
        defer { free(unit) }
        return String(cString: unit)
    }
}
