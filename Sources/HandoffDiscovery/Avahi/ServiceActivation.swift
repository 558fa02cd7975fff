import CSystemd

/// Starts services that the system bus knows but that do not run.
enum ServiceActivation {
    /// How long the bus may take; starting avahi-daemon takes a fraction of a second.
    private static let patience: UInt64 = 5_000_000  // microseconds

    /// Asks the bus to start a service (StartServiceByName of org.freedesktop.DBus), and waits for its answer. Nothing
    /// happens if there is no bus, if the service runs already, or if nobody installed or enabled it.
    static func start(_ name: String) {
        var bus: OpaquePointer?
        guard sd_bus_open_system(&bus) >= 0 else { return }
        defer { sd_bus_flush_close_unref(bus) }
        var call: OpaquePointer?
        guard
            sd_bus_message_new_method_call(
                bus, &call, "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus",
                "StartServiceByName") >= 0
        else { return }
        defer { sd_bus_message_unref(call) }
        var flags: UInt32 = 0
        let signature = { (text: Character) in CChar(truncatingIfNeeded: text.asciiValue ?? 0) }
        guard sd_bus_message_append_basic(call, signature("s"), name) >= 0,
            sd_bus_message_append_basic(call, signature("u"), &flags) >= 0
        else { return }
        var reply: OpaquePointer?
        // The client that is made next sees whether it worked.
        _ = sd_bus_call(bus, call, patience, nil, &reply)
        sd_bus_message_unref(reply)
    }
}
