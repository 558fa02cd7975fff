import HandoffControl
import HandoffDiscovery
import HandoffModel
import HandoffPairing

/// The location of the inviting device, as given by the user.
enum JoinPlace {
    /// Somewhere on this network.
    case anywhere
    /// At one of these addresses of a single device.
    case known([StaticPeer])

    /// Parses the user's input.
    /// - Throws: `PairingFailure` if it is invalid, `CallError` for an invalid address.
    static func read(_ request: JoinRequest) throws -> (given: JoinSecret.Given, place: JoinPlace) {
        let address = try request.address.map { text in
            guard let address = StaticAddress(text) else { throw CallError.invalidAddress(text) }
            return try StaticPeer(given: address)
        }
        if let text = request.link {
            guard let link = PairingLink(text) else { throw PairingFailure.badLink }
            // An address given by the user takes precedence over those of the link.
            let peers = address.map { [$0] } ?? link.candidates.compactMap { StaticPeer(text: $0) }
            guard !peers.isEmpty else { throw PairingFailure.badLink }
            return (.link(link), .known(peers))
        }
        guard let code = PairingCode(request.code ?? "") else { throw PairingFailure.badCode }
        return (.code(code), address.map { .known([$0]) } ?? .anywhere)
    }
}

extension StaticPeer {
    /// Creates the peer at an address given by the user.
    /// - Throws: `CallError` with the reason if the address cannot be used.
    init(given address: StaticAddress) throws(CallError) {
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
