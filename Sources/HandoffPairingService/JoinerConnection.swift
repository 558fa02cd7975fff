import HandoffPairing
import HandoffTransport
import LoopIO

/// One connection to a pairing window, with its session. Belongs to the `Inviter`.
final class JoinerConnection {
    /// Bytes in, actions out.
    var machine: InviterSession
    /// What carries the bytes.
    let connection: PeerConnection
    /// What the session tries to prove.
    let method: PairingAuthMethod
    /// Who it is, once that is proved.
    var peer: PairingPeer?
    /// Runs while the account key is awaited.
    var keyTimer: LoopTimer?
    /// Whether the user is asked about it now.
    var isAsked = false

    /// A session that has not begun.
    init(machine: InviterSession, connection: PeerConnection, method: PairingAuthMethod) {
        self.machine = machine
        self.connection = connection
        self.method = method
    }

    /// Whether the user has agreed to it, and the account is on its way.
    var isJoining: Bool { peer != nil && !isAsked }
}
