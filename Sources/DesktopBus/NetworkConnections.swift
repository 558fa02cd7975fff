import CSystemdBus
package import HandoffHandlers
import LoopIO

/// The networks that NetworkManager has connected this machine to. Does not start NetworkManager.
package enum NetworkConnections {
    private static let service = "org.freedesktop.NetworkManager"
    private static let path = "/org/freedesktop/NetworkManager"
    private static let activeInterface = "org.freedesktop.NetworkManager.Connection.Active"
    private static let deviceInterface = "org.freedesktop.NetworkManager.Device"
    /// The maximum time for a reply, in microseconds. Queries stop after the first timeout.
    private static let timeout: UInt64 = 1_000_000
    /// The maximum number of connections, and of devices per connection, to read.
    private static let maxEntries = 16

    /// Returns the connection names by interface. Excludes VPNs, which name the interface that
    /// carries them.
    ///
    /// Blocks on the system bus: use a worker thread.
    /// - Returns: An empty list if there is no bus or no NetworkManager, or if it does not reply.
    package static func names() -> NetworkNames {
        var bus: OpaquePointer?
        guard sd_bus_open_system(&bus) >= 0, let bus else { return NetworkNames(networks: []) }
        defer { sd_bus_flush_close_unref(bus) }
        var networks: [NetworkNames.Network] = []
        do throws(Errno) {
            let active = try get(bus, path, service, "ActiveConnections", paths)
            for connection in active {
                guard try !get(bus, connection, activeInterface, "Vpn", BusReader.variantFlag) else { continue }
                let name = try get(bus, connection, activeInterface, "Id", BusReader.variantText)
                for device in try get(bus, connection, activeInterface, "Devices", paths) {
                    let interface = try get(bus, device, deviceInterface, "Interface", BusReader.variantText)
                    networks.append(NetworkNames.Network(interface: interface, name: name))
                }
            }
        } catch {
            // Keeps the networks read so far.
        }
        let answer = NetworkNames(networks: networks)
        return (try? answer.check()) == nil ? NetworkNames(networks: []) : answer
    }

    private static func paths(_ message: OpaquePointer) throws(Errno) -> [String] {
        try BusReader.variantPaths(message, limit: maxEntries)
    }

    /// - Throws: The error if the property cannot be read.
    private static func get<Value>(
        _ bus: OpaquePointer, _ path: String, _ interface: String, _ property: String,
        _ read: (OpaquePointer) throws(Errno) -> Value
    ) throws(Errno) -> Value {
        var pointer: OpaquePointer?
        try Errno.check(
            sd_bus_message_new_method_call(bus, &pointer, service, path, LoopBus.propertiesInterface, "Get"))
        guard let pointer else { throw .invalidArgument }
        defer { sd_bus_message_unref(pointer) }
        sd_bus_message_set_auto_start(pointer, 0)
        var message = BusMessage(pointer)
        message.append(interface)
        message.append(property)
        try Errno.check(message.result)
        var error = sd_bus_error()
        defer { sd_bus_error_free(&error) }
        var reply: OpaquePointer?
        try Errno.check(sd_bus_call(bus, pointer, timeout, &error, &reply))
        guard let reply else { throw .invalidArgument }
        defer { sd_bus_message_unref(reply) }
        return try read(reply)
    }
}
