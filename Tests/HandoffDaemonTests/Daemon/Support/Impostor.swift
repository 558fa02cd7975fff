import HandoffCrypto
import HandoffDaemon
import HandoffPairing
import HandoffTransport
import LoopIO

/// An inviter that does not know the code. It performs the whole exchange, with an invalid proof.
final class Impostor {
    private let listener: PairingListener
    private var sessions: [(PeerConnection, InviterSession)] = []
    /// The number of joiners that have called.
    private(set) var calls = 0

    init(_ fleet: Fleet) throws {
        let context = try TLSContext(pairingServer: try TLSIdentity(key: try SigningKey()))
        listener = try PairingListener(ports: nil, address: .loopbackIPv4, context: context, on: fleet.loop)
        let identity = try SigningKey()
        let (salt, password) = try PairingPassword.salted(PairingLink(candidates: []))
        listener.onArrival = { [unowned self] arrival in
            calls += 1
            let connection = arrival.connection
            let index = sessions.count
            connection.onOpen = { [unowned self, unowned connection] _ in
                sessions[index].1 = InviterSession(
                    password: password, salt: salt, exporter: connection.channelBinding ?? [], identity: identity,
                    name: "impostor")
                send(sessions[index].1.start(), over: connection)
            }
            connection.onBytes = { [unowned self] in send(sessions[index].1.received($0), over: connection) }
            sessions.append(
                (
                    connection,
                    InviterSession(
                        password: password, salt: salt, exporter: [], identity: identity, name: "impostor")
                ))
            connection.answer(arrival.clientHello)
        }
    }

    /// The address of the listener.
    var address: String { "127.0.0.1:\(listener.port)" }

    private func send(_ actions: [InviterAction], over connection: PeerConnection) {
        for action in actions {
            switch action {
            case .send(let bytes): connection.send(bytes)
            case .guess: connection.send(PairingFrame(.confirmB, Randomness.bytes(32)).encoded)
            default: break
            }
        }
    }
}
