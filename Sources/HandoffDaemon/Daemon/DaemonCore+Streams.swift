import HandoffAccount
import HandoffCrypto
import HandoffModel
import HandoffProtocol
import HandoffStreams
import HandoffTLS
import LoopIO

/// Connections of continuation streams.
extension DaemonCore {
    /// Takes a connection for a stream, whose client has passed the gate and proved its key: only of a member that holds the
    /// key in force.
    func acceptStream(_ connection: PeerConnection, from key: PublicKey) {
        let device = DeviceID(key)
        guard ring.isCurrent, ring.peerKey(device) != nil, !connection.isIntroduction else {
            return connection.close("only members open streams")
        }
        streams.accept(connection, from: device)
    }
}
