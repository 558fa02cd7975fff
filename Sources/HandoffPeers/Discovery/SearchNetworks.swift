package import LoopIO

/// Decides whether this device is still in the networks in which it lost others, by the prefixes of
/// its own addresses.
///
/// In another network the addresses of lost devices are those of unknown hosts, which must not be
/// sent anything.
package struct SearchNetworks {
    private var prefixes: Set<[UInt8]> = []

    package init() {}

    /// Notes the addresses of this device. While its link is down, it has fewer, which does not
    /// count as another network.
    ///
    /// - Returns: true if it has left a network and joined another one.
    package mutating func hasMoved(to addresses: [IPAddress]) -> Bool {
        let global = addresses.filter { !$0.isLoopback && !$0.isLinkLocal }
        // The usual lengths, so that another address in a network does not count as another
        // network.
        let present = Set(global.map { Array($0.bytes.prefix($0.isIPv4 ? 3 : 8)) })
        let hasLeft = !prefixes.isSubset(of: present)
        let hasJoined = !present.isSubset(of: prefixes)
        if !hasLeft || hasJoined { prefixes = present }
        return hasLeft && hasJoined
    }
}
