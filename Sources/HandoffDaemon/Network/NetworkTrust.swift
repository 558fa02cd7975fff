import HandoffDiscovery
import HandoffModel
import HandoffState

/// Determines on which interfaces other devices can discover this one, from the networks that the
/// user trusts. Plain values.
///
/// A network is identified by the link-layer address of its gateway, because a machine can
/// determine it before it sends anything. The operator of another network may give its gateway the
/// same address. So this keeps the device silent in other networks, but is no proof of identity.
struct NetworkTrust: Sendable, Equatable {
    /// The configured policy.
    var policy: NetworkPolicy
    /// The only interfaces for discovery; empty: all except loopback.
    var interfaces: [String]
    /// The known networks.
    var known: NetworksFile
    /// The networks that this machine is in; empty until they have been read.
    var present: [PresentNetwork] = []

    /// Returns whether a network is known. A network whose gateway has the address of a virtual
    /// router is never known, even if it is stored: many other networks have the same address.
    func isKnown(_ network: PresentNetwork) -> Bool {
        guard let hardware = network.hardware, !hardware.isVirtualRouter else { return false }
        return known[hardware] != nil
    }

    /// The interfaces for discovery; nil for the configured ones in any network.
    var limit: [String]? {
        // Loopback alone is not a network.
        guard policy == .known, interfaces != ["lo"] else { return nil }
        var allowed = interfaces.contains("lo") ? ["lo"] : []
        for network in present where isKnown(network) && !allowed.contains(network.interface) {
            if interfaces.isEmpty || interfaces.contains(network.interface) { allowed.append(network.interface) }
        }
        return allowed
    }

    /// The reason why this device cannot be discovered on any interface, as a sentence in lower
    /// case; nil if it can.
    var restriction: String? {
        guard limit?.isEmpty == true else { return nil }
        let concerned = present.filter { interfaces.isEmpty || interfaces.contains($0.interface) }
        guard !concerned.isEmpty else {
            return "this device is in no network with a gateway, and networks = known"
        }
        let words = concerned.map { network in
            let isShared = network.hardware?.isVirtualRouter ?? false
            return "\(network.interface), gateway \(network.gateway)"
                + (isShared ? ", a virtual router, whose address other networks share" : "")
        }.joined(separator: "; ")
        return "this network is not known (\(words))"
    }
}
