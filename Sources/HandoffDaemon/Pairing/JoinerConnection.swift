import HandoffPairing
import HandoffTransport
import LoopIO

/// One connection to a pairing window, with its session. Belongs to the `Inviter`.
final class JoinerConnection {
    /// The session: bytes in, actions out.
    var machine: InviterSession
    /// The connection that carries the session.
    let connection: PeerConnection
    /// The authentication method of the session.
    let method: PairingAuthMethod
    /// The proved identity, or nil until it is proved.
    var peer: PairingPeer?
    /// Runs while waiting for the account key.
    var keyTimer: LoopTimer?
    /// True if the user is being asked about it now.
    var isAsked = false

    init(machine: InviterSession, connection: PeerConnection, method: PairingAuthMethod) {
        self.machine = machine
        self.connection = connection
        self.method = method
    }

    /// True if the user has agreed to it and the account is being sent.
    var isJoining: Bool { peer != nil && !isAsked }
}
