package import HandoffDiscovery
package import LoopIO

/// Where a pairing window can be reached: addresses of this machine, the likeliest first. A plain value.
package enum PairingAddresses {
    /// Addresses that are shown and put into a link at most.
    package static let most = 8

    /// What a device elsewhere may call, of what the machine has.
    ///
    /// IPv6 addresses that are valid on one link only are left out: they are of no use without the name that the *other*
    /// machine has for the link. A joiner on the same link finds us by discovery instead.
    ///
    /// - Parameters:
    ///   - only: the one address to listen on; nil for all.
    ///   - interfaces: the only interfaces to be found on; empty: all but loopback.
    package static func reachable(_ table: InterfaceTable, only: IPAddress?, interfaces: [String]) -> [IPAddress] {
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
            (rank(one.element), one.offset) < (rank(other.element), other.offset)
        }
        return ranked.prefix(most).map(\.element)
    }

    /// Whether there is any network to look for others on: an address besides those of the machine itself, unless it is
    /// to be found on this machine alone.
    package static func isOnNetwork(_ table: InterfaceTable, only: IPAddress?, interfaces: [String]) -> Bool {
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
