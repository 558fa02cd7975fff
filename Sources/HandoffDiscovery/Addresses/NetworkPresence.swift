package import LoopIO

/// The result of checking, from the interfaces and the configuration, whether other devices can
/// find and reach this device at all. A plain value.
package struct NetworkPresence: Sendable, Equatable {
    /// The configured interfaces that this machine does not have now, in the order of the
    /// configuration.
    package let missing: [String]
    /// The configured address, if no interface has it now.
    package let missingAddress: IPAddress?
    /// True if an interface for discovery is up, connected and has an address.
    package let isPresent: Bool

    /// - Parameters:
    ///   - interfaces: The only interfaces to use; empty for all except loopback.
    ///   - only: The only address to listen on; nil for all.
    package init(_ table: InterfaceTable, interfaces: [String], only: IPAddress?) {
        missing = interfaces.filter { table.index(of: $0) == nil }
        missingAddress = only.flatMap { only in table.usable.contains { $0.address == only } ? nil : only }
        if only?.isLoopback == true, interfaces.isEmpty {
            isPresent = true
        } else if missingAddress != nil {
            isPresent = false
        } else {
            isPresent = table.usable.contains { local in
                guard !interfaces.isEmpty else { return !table.isLoopback(local.interface) }
                return table.name(of: local.interface).map(interfaces.contains) ?? false
            }
        }
    }
}
