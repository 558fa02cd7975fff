import CSystemdBus
import Glibc
package import LoopIO

/// Prevents the machine from sleeping for as long as the object exists. Can be released on any
/// thread.
///
/// Holds a lock of systemd-logind, which `systemd-inhibit --list` shows. No password is requested.
package final class SleepInhibition: Sendable {
    /// The maximum time for a reply from the bus and logind, in microseconds. Short, because the
    /// caller has other work.
    private static let timeout: UInt64 = 2_000_000

    /// logind releases the lock when all copies of this pipe are closed.
    private let lock: Descriptor

    /// Acquires the lock. Can take seconds: use a worker thread.
    ///
    /// - Parameters:
    ///   - who: The display name of the program.
    ///   - why: The work that sleep would interrupt, for display.
    /// - Throws: An error of sd_bus_call(3) if there is no system bus or no logind, or if logind
    ///   refuses.
    package init(who: String, why: String) throws(Errno) {
        var bus: OpaquePointer?
        try Errno.check(sd_bus_open_system(&bus))
        defer { sd_bus_flush_close_unref(bus) }
        try Errno.check(sd_bus_set_method_call_timeout(bus, Self.timeout))
        var message: OpaquePointer?
        try Errno.check(
            sd_bus_message_new_method_call(
                bus, &message, LoginManager.service, LoginManager.path, LoginManager.interface, "Inhibit"))
        defer { sd_bus_message_unref(message) }
        guard let message else { throw Errno(rawValue: ENOMEM) }
        var arguments = BusMessage(message)
        LoginManager.inhibit(&arguments, what: .sleep, who: who, why: why, mode: .block)
        try Errno.check(arguments.result)
        var reply: OpaquePointer?
        try Errno.check(sd_bus_call(bus, message, 0, nil, &reply))
        defer { sd_bus_message_unref(reply) }
        guard let reply else { throw Errno(rawValue: ENOMEM) }
        lock = try BusReader.descriptor(reply)
    }
}
