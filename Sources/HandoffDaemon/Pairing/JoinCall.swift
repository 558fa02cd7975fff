import HandoffCrypto
import HandoffModel
import HandoffPairing
import HandoffTransport
import LoopIO

/// One call of a joiner to one inviter, up to the account. Lives on the daemon's loop; releasing it
/// ends the call. Diagram: `docs/state-machines/pairing.md`.
final class JoinCall {
    /// The end of a call without the account.
    enum End {
        /// The attempt to join can continue. `wasGuess`: the peer has our proof of the code and
        /// sent none.
        case here(JoinTargets.CallEnd, wasGuess: Bool = false)
        /// The attempt to join has failed at all inviters.
        case everywhere(PairingFailure)
    }

    /// The parameters shared by all calls of one attempt to join.
    struct Setting {
        let loop: EventLoop
        let log: Logger
        let dialer: Dialer
        let secret: JoinSecret
        /// The key of this device.
        let identity: SigningKey
        /// The name of this device.
        let name: String
    }

    private enum State {
        /// TLS is not established.
        case dialling
        /// The inviter has sent nothing yet.
        case listening
        /// Code and identity are being proved.
        case proving
        /// The inviter's user is being asked.
        case waiting(PairingPeer)
        /// The account has arrived.
        case storing
        /// The call has ended.
        case over
    }

    /// A TLS connection and the session inside it.
    private struct Channel {
        var session: JoinerSession
        let connection: PeerConnection

        mutating func apply(_ event: (inout JoinerSession) -> [JoinerAction]) -> [JoinerAction] { event(&session) }
    }

    /// The window that is called.
    let instance: String
    private let setting: Setting
    /// Nil once the call has ended.
    private weak var joiner: Joiner?
    private var state = State.dialling
    /// Set from the end of `dialling` until the call ends.
    private var channel: Channel?
    private var dial: Dial?
    private var deadline: LoopTimer?

    /// Starts the call.
    init(
        _ instance: String, at addresses: [SocketAddress], _ setting: Setting, joiner: Joiner
    ) {
        self.instance = instance
        self.setting = setting
        self.joiner = joiner
        // Any certificate is accepted, because the code authenticates the inviter.
        let target = DialTarget(candidates: addresses, token: setting.secret.token, accepts: { _ in true })
        dial = setting.dialer.dial(target) { [weak self] in self?.dialled($0) }
    }

    deinit {
        channel?.connection.abort()
    }

    /// True if the inviter's user is being asked now.
    var isWaiting: Bool {
        if case .waiting = state { true } else { false }
    }

    /// Confirms that the account is durably stored.
    func stored() {
        finish { $0.stored() }
    }

    /// Ends the call and sends the reason to the inviter if connected.
    func refuse(_ reason: PairingRefusal) {
        finish { $0.refuse(reason) }
    }

    /// Sends this side's final frame if the call has not ended.
    private func finish(_ finalEvent: (inout JoinerSession) -> [JoinerAction]) {
        if let actions = channel?.apply(finalEvent), let connection = channel?.connection {
            for case .send(let bytes) in actions { connection.send(bytes) }
            connection.onClosed = nil
            connection.close("the pairing session has ended")
        }
        close()
    }

    // MARK: - Events

    private func dialled(_ result: Result<PeerConnection, DialError>) {
        dial = nil
        switch result {
        case .success(let connection):
            // Fails only if memory is exhausted.
            guard let exporter = connection.channelBinding else { return end(.here(.silent)) }
            let session = JoinerSession(exporter: exporter, identity: setting.identity, name: setting.name)
            setting.log.debug("Connection to an inviter is open", ["group": connection.group])
            channel = Channel(session: session, connection: connection)
            state = .listening
            wait(PairingProtocol.proofTimeout)
            connection.onBytes = { [weak self] in self?.received($0) }
            connection.onClosed = { [weak self] in self?.lost($0) }
        case .failure(let error):
            setting.log.debug("Inviter did not respond", ["reasons": "\(error)"])
            let isAnotherVersion = Self.versionEnds.contains { end in
                error.failures.contains { $0.cause == .end(end) }
            }
            end(.here(isAnotherVersion ? .over(.versionsDiffer) : .silent))
        }
    }

    private func received(_ bytes: [UInt8]) {
        if case .listening = state { state = .proving }
        advance { $0.received(bytes) }
    }

    /// Passes an event to the session and performs its actions.
    private func advance(_ event: (inout JoinerSession) -> [JoinerAction]) {
        guard let connection = channel?.connection, let actions = channel?.apply(event) else { return }
        for action in actions { perform(action, connection) }
    }

    private func perform(_ action: JoinerAction, _ connection: PeerConnection) {
        switch action {
        case .send(let bytes): connection.send(bytes)
        case .needsPassword(let salt):
            setting.secret.password(salt) { [weak self] password in
                guard let self else { return }
                guard let password else { return end(.here(.over(.failedHere("the salt is unusable")))) }
                advance { $0.use(password) }
            }
        case .inviter(let inviter):
            state = .waiting(inviter)
            // The inviter ends the call in time. After this longer wait it is considered offline.
            wait(Limits.pairingWindowLifetime + PairingProtocol.answerGrace + PairingProtocol.transferTimeout)
            joiner?.call(self, reached: inviter)
        case .account(let account):
            guard case .waiting(let inviter) = state else { return }
            state = .storing
            deadline = nil
            joiner?.call(self, received: account, from: inviter)
        case .ended(let end): ended(end)
        }
    }

    private func ended(_ end: PairingEnd) {
        switch (state, end) {
        // The account has arrived and is being stored, so later events from the inviter are
        // ignored.
        case (.storing, _), (.over, _), (.dialling, _): return
        case (_, .wrongConfirmation): self.end(.everywhere(.untrusted))
        case (.waiting, .refusedByPeer(let reason)):
            switch Self.meaning(of: reason) {
            case .over(let failure): self.end(.everywhere(failure))
            case let other: self.end(.here(other))
            }
        // The peer has proved nothing, so its refusal affects only this inviter.
        case (_, .refusedByPeer(let reason)): self.end(.here(Self.meaning(of: reason)))
        case (_, .violation(let violation)): self.end(.here(.over(.failedHere(violation.description))))
        case (_, .failed(let error)): self.end(.here(.over(.failedHere(error.description))))
        case (_, .finished), (_, .refused): close()
        }
    }

    private func lost(_ reason: ConnectionEnd) {
        setting.log.debug("The connection to an inviter was lost", ["reason": "\(reason)"])
        switch state {
        case .listening: end(.here(Self.versionEnds.contains(reason) ? .over(.versionsDiffer) : .silent))
        case .proving, .waiting: end(.here(.cut))
        case .dialling, .storing, .over: break
        }
    }

    private func deadlinePassed() {
        if case .listening = state { end(.here(.silent)) } else { end(.here(.cut)) }
    }

    // MARK: - Ending

    private func wait(_ time: Duration) {
        // Fails only if memory is exhausted. The deadline of the whole attempt then ends the call.
        deadline = setting.loop.timer(after: time) { [weak self] in self?.deadlinePassed() }
    }

    private func end(_ end: End) {
        let joiner = self.joiner
        let wasGuess = channel?.session.hasUnansweredProof ?? false
        channel?.connection.abort()
        close()
        if case .here(let callEnd, _) = end {
            joiner?.call(self, ended: .here(callEnd, wasGuess: wasGuess))
        } else {
            joiner?.call(self, ended: end)
        }
    }

    private func close() {
        state = .over
        channel = nil
        dial = nil
        deadline = nil
        joiner = nil
    }

    /// No common protocol version: the peer sent no_application_protocol (RFC 7301), or we detected
    /// it.
    private static let versionEnds: [ConnectionEnd] = [.tls(.alert(120)), .tls(.wrongApplicationProtocol)]

    private static func meaning(of reason: PairingRefusal) -> JoinTargets.CallEnd {
        switch reason {
        case .busy(let seconds): .busy(.seconds(Int64(seconds)))
        case .wrongCode: .over(.wrongCode)
        case .codeEnded: .over(.codeUsed)
        case .windowClosed: .over(.windowClosed)
        case .declined: .over(.declined)
        case .cancelled: .over(.cancelledThere)
        case .removed: .over(.removed)
        case .accountFull: .over(.accountFull)
        case .alreadyMember, .failed: .over(.failedThere)
        }
    }
}
