import CSystemdBus
import Glibc
package import LoopIO

/// Keeps the machine from going to sleep, for as long as it lives. Any thread may let it go.
///
/// A lock of systemd-logind, which `systemd-inhibit --list` shows; nobody is asked for a password.
package final class SleepInhibition: Sendable {
    /// How long the bus and logind may take, in microseconds: what asks has other work to do.
    private static let timeout: UInt64 = 2_000_000

    /// logind ends the lock when all copies of this pipe are closed.
    private let lock: Descriptor

    /// Takes the lock. May take seconds: for a worker's thread.
    ///
    /// - Parameters:
    ///   - who: the program, as people know it.
    ///   - why: what would be interrupted, for people.
    /// - Throws: an error of sd_bus_call(3): there is no system bus, no logind, or it does not allow this.
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
        LoginManager.inhibit(&arguments, who: who, why: why, mode: .block)
        try Errno.check(arguments.result)
        var reply: OpaquePointer?
        try Errno.check(sd_bus_call(bus, message, 0, nil, &reply))
        defer { sd_bus_message_unref(reply) }
        guard let reply else { throw Errno(rawValue: ENOMEM) }
        lock = try BusReader.descriptor(reply)
    }
}
