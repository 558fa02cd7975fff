package import HandoffDiscovery
package import LoopIO

/// The addresses of this machine at which a pairing window can be reached, likeliest first. A plain
/// value.
package struct PairingAddresses: Sendable {
    /// Maximum number of addresses that are shown and put into a link.
    package static let maxAddresses = 8

    /// The only address to listen on, or nil for all.
    let only: IPAddress?
    /// The only interfaces to use. If empty, all but loopback.
    let interfaces: [String]

    package init(only: IPAddress?, interfaces: [String]) {
        self.only = only ?? (interfaces == ["lo"] ? .loopbackIPv4 : nil)
        self.interfaces = interfaces
    }

    /// The addresses that other devices can call. Empty if the kernel's table is unavailable;
    /// discovery may still find the window.
    ///
    /// Call it on a worker, because it makes system calls.
    func reachable() -> [IPAddress] {
        reachable(in: (try? InterfaceTable.current()) ?? InterfaceTable())
    }

    /// Returns whether there is a network on which to find other devices, or true if that is
    /// unknown. Call it on a worker.
    func isOnNetwork() -> Bool {
        (try? InterfaceTable.current()).map(isOnNetwork(in:)) ?? true
    }

    /// The addresses in the table that other devices can call.
    ///
    /// Link-local IPv6 addresses are omitted: they are useless without the *other* machine's name
    /// for the link. A joiner on the same link finds us by discovery instead.
    package func reachable(in table: InterfaceTable) -> [IPAddress] {
        if let only, !only.isUnspecified { return [only] }
        let wantsLoopback = interfaces == ["lo"]
        let fitting = table.usable.filter { local in
            let address = local.address
            guard wantsLoopback == table.isLoopback(local.interface), wantsLoopback == address.isLoopback,
                address.isUnicast, only?.isIPv4 != true || address.isIPv4,
                address.isIPv4 || !address.isLinkLocal
            else { return false }
            guard !interfaces.isEmpty, let name = table.name(of: local.interface) else { return true }
            return interfaces.contains(name)
        }
        // Stable within each rank, because the table is ordered by interface.
        let ranked = fitting.map(\.address).enumerated().sorted { one, other in
            (Self.rank(one.element), one.offset) < (Self.rank(other.element), other.offset)
        }
        return ranked.prefix(Self.maxAddresses).map(\.element)
    }

    /// Returns whether there is a network on which to find other devices: an address that is not
    /// loopback, unless the window is restricted to this machine.
    package func isOnNetwork(in table: InterfaceTable) -> Bool {
        if interfaces == ["lo"] || only?.isLoopback == true { return true }
        return table.usable.contains { !table.isLoopback($0.interface) && !$0.address.isLoopback }
    }

    /// IPv4 first, because users may have to type it. Site-local addresses precede global ones.
    private static func rank(_ address: IPAddress) -> Int {
        switch (address.isIPv4, address.isPrivate, address.isLinkLocal) {
        case (true, true, _): 0
        case (true, _, true): 1
        case (true, _, _): 2
        case (false, true, _): 3
        case (false, _, _): 4
        }
    }
}
