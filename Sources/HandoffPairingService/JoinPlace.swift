import HandoffControl
package import HandoffControlServer
package import HandoffDiscovery
package import HandoffModel
import HandoffPairing

/// Where the user says that the inviting device is.
enum JoinPlace {
    /// Somewhere on this network.
    case anywhere
    /// At one of these places; it is one device.
    case known([StaticPeer])

    /// Reads what the user was given.
    /// - Throws: `PairingFailure` when it cannot be right, `CallError` for an address.
    static func read(_ request: JoinRequest) throws -> (given: JoinSecret.Given, place: JoinPlace) {
        let address = try request.address.map { text in
            guard let address = StaticAddress(text) else { throw CallError.invalidAddress(text) }
            return try StaticPeer(given: address)
        }
        if let text = request.link {
            guard let link = PairingLink(text) else { throw PairingFailure.badLink }
            // An address that the user gives is better than those of the link.
            let peers = address.map { [$0] } ?? link.candidates.compactMap { StaticPeer(text: $0) }
            guard !peers.isEmpty else { throw PairingFailure.badLink }
            return (.link(link), .known(peers))
        }
        guard let code = PairingCode(request.code ?? "") else { throw PairingFailure.badCode }
        return (.code(code), address.map { .known([$0]) } ?? .anywhere)
    }
}

extension StaticPeer {
    /// The peer at an address that a user has given now.
    /// - Throws: `CallError` with the reason when no device can be called there.
    package init(given address: StaticAddress) throws(CallError) {
        if address.needsZone { throw .invalidAddress(address.text, address.zoneAdvice) }
        guard let peer = StaticPeer(text: address.text) else {
            throw .invalidAddress(
                address.text,
                "no device can be called there: it is neither a host name nor a unicast address, or it names an interface "
                    + "that this machine does not have")
        }
        self = peer
    }
}
