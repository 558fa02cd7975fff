package import LoopIO

/// Whether other devices can find and reach this one at all, by its interfaces and what is configured. A plain value.
package struct NetworkPresence: Sendable, Equatable {
    /// Configured interfaces that this machine does not have now, in the order of the configuration.
    package let missing: [String]
    /// The configured address, if no interface has it now.
    package let missingAddress: IPAddress?
    /// Whether an interface to be found on is up, connected, and has an address.
    package let isPresent: Bool

    /// - Parameters:
    ///   - interfaces: the only ones to be found on; empty: all but loopback.
    ///   - only: the one address to listen on; nil for all.
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
