import HandoffControl
import HandoffControlServer
import HandoffDiscovery
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
            guard let peer = StaticPeer(text: text) else { throw CallError.invalidAddress(text) }
            return peer
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
