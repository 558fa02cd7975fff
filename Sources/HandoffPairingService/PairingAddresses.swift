package import HandoffDiscovery
package import LoopIO

/// Where a pairing window can be reached: addresses of this machine, the likeliest first. A plain value.
package struct PairingAddresses: Sendable {
    /// Addresses that are shown and put into a link at most.
    package static let most = 8

    /// The one address to listen on; nil for all.
    package let only: IPAddress?
    /// The only interfaces to be found on; empty: all but loopback.
    package let interfaces: [String]

    /// The addresses of a machine that listens there.
    package init(only: IPAddress?, interfaces: [String]) {
        self.only = only ?? (interfaces == ["lo"] ? .loopbackIPv4 : nil)
        self.interfaces = interfaces
    }

    /// What a device elsewhere may call; none without the kernel's table: discovery may still find the window.
    ///
    /// Asks the kernel, so it is for a worker.
    func reachable() -> [IPAddress] {
        reachable(in: (try? InterfaceTable.current()) ?? InterfaceTable())
    }

    /// Whether there is any network to look for others on; true where that cannot be found out. For a worker, too.
    func isOnNetwork() -> Bool {
        (try? InterfaceTable.current()).map(isOnNetwork(in:)) ?? true
    }

    /// What a device elsewhere may call, of what the machine has.
    ///
    /// IPv6 addresses that are valid on one link only are left out: they are of no use without the name that the *other*
    /// machine has for the link. A joiner on the same link finds us by discovery instead.
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
        // Stable within each rank: the table is ordered by interface.
        let ranked = fitting.map(\.address).enumerated().sorted { one, other in
            (Self.rank(one.element), one.offset) < (Self.rank(other.element), other.offset)
        }
        return ranked.prefix(Self.most).map(\.element)
    }

    /// Whether there is any network to look for others on: an address besides those of the machine itself, unless it is
    /// to be found on this machine alone.
    package func isOnNetwork(in table: InterfaceTable) -> Bool {
        if interfaces == ["lo"] || only?.isLoopback == true { return true }
        return table.usable.contains { !table.isLoopback($0.interface) && !$0.address.isLoopback }
    }

    /// IPv4 first, since people may have to type it; what stays on this site before what does not.
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
