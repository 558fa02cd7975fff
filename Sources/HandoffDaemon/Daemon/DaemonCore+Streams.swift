import HandoffAccount
import HandoffCrypto
import HandoffModel
import HandoffProtocol
import HandoffStreams
import HandoffTLS
import LoopIO

/// Connections of continuation streams.
extension DaemonCore {
    /// What the desk of streams needs.
    var streamSurroundings: StreamDesk.Surroundings {
        StreamDesk.Surroundings(
            ask: { [unowned self] in askForStream(of: $1, $2, from: $0, completion: $3) },
            dial: { [unowned self] in dialForStream($0, completion: $1) },
            announce: { [unowned self] stream, grant in
                apps.announce(stream, grant.resource, of: grant.activity, to: grant.session, from: origin(grant.device))
            },
            name: { [unowned self] in ring.name(of: $0) },
            app: { [unowned self] in apps.registry.session($0)?.app },
            note: { [unowned self] in history.note($0) })
    }

    /// Takes a connection for a stream, whose client has passed the gate and proved its key: only of a member that holds the
    /// key in force.
    func acceptStream(_ connection: PeerConnection, from key: PublicKey) {
        let device = DeviceID(key)
        guard ring.isCurrent, ring.peerKey(device) != nil, !connection.isIntroduction else {
            return connection.close("only members open streams")
        }
        streams.accept(connection, from: device)
    }

    /// Calls a member for a stream.
    /// - Returns: nil when there is no way to it now.
    private func dialForStream(
        _ device: DeviceID, completion: @escaping (Result<StreamChannel, HandoffFailure>) -> Void
    ) -> Dial? {
        let ring = self.ring
        guard ring.isCurrent, ring.peerKey(device) != nil,
            let way = network.ways(to: device).first(where: { !$0.isIntroduction })
        else { return nil }
        return streamDialer.dial(way.target(device, ring)) { [weak self] result in
            guard let self else { return }
            let name = self.ring.name(of: device)
            switch result {
            case .failure(let error):
                for failure in error.failures where failure.hadNoAnswer {
                    network.unanswered(device, at: failure.address)
                }
                completion(.failure(.peerUnreachable(device: name, cause: error.description)))
            case .success(let connection):
                guard self.ring.peerKey(device) != nil else {
                    connection.close("the device is no longer live")
                    return completion(.failure(.notMember(device: name)))
                }
                guard let channel = connection.detach() else {
                    return completion(.failure(.peerUnreachable(device: name, cause: "the connection was lost")))
                }
                completion(.success(channel))
            }
        }
    }
}
