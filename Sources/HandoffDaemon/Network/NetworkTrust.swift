package import HandoffConfiguration
package import HandoffDiscovery
import HandoffModel
package import HandoffState

/// On which interfaces this device may be found, by the networks that the user knows. Plain values.
///
/// A network is known by the link-layer address of its gateway: that is what a machine can tell before it has said anything.
/// Whoever runs another network may give its gateway the same address; it keeps this device silent elsewhere, and proves nothing.
package struct NetworkTrust: Sendable, Equatable {
    /// What the configuration wants.
    package var policy: NetworkPolicy
    /// The only interfaces to be found on; empty: all but loopback.
    package var interfaces: [String]
    /// The networks that are known.
    package var known: NetworksFile
    /// The networks that this machine is in; none before they were read.
    package var present: [PresentNetwork] = []

    /// Nothing is present yet.
    package init(policy: NetworkPolicy, interfaces: [String], known: NetworksFile) {
        self.policy = policy
        self.interfaces = interfaces
        self.known = known
    }

    /// True if a network is one of those that are known. One by the address of a virtual router is not, whatever was stored:
    /// many other networks have the same.
    package func isKnown(_ network: PresentNetwork) -> Bool {
        guard let hardware = network.hardware, !hardware.isVirtualRouter else { return false }
        return known[hardware] != nil
    }

    /// The interfaces to be found on; nil for those that are configured, whatever network they are in.
    package var limit: [String]? {
        // This machine alone is no network.
        guard policy == .known, interfaces != ["lo"] else { return nil }
        var allowed = interfaces.contains("lo") ? ["lo"] : []
        for network in present where isKnown(network) && !allowed.contains(network.interface) {
            if interfaces.isEmpty || interfaces.contains(network.interface) { allowed.append(network.interface) }
        }
        return allowed
    }

    /// Why this device is found nowhere, as a sentence in lower case; nil while it is.
    package var hold: String? {
        guard limit?.isEmpty == true else { return nil }
        let concerned = present.filter { interfaces.isEmpty || interfaces.contains($0.interface) }
        guard !concerned.isEmpty else {
            return "this device is in no network whose gateway could be told, and networks = known"
        }
        let words = concerned.map { network in
            let isShared = network.hardware?.isVirtualRouter ?? false
            return "\(network.interface), gateway \(network.gateway)"
                + (isShared ? ", a virtual router, whose address other networks have as well" : "")
        }.joined(separator: "; ")
        return "this network is not known (\(words))"
    }
}
