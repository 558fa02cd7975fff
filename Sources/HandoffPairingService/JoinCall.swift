import HandoffCrypto
import HandoffLog
import HandoffPairing
import HandoffTLS
import HandoffTransport
import LoopIO

/// Who has a call made. On the daemon's loop.
protocol JoinCallDelegate: AnyObject {
    /// The inviter has proved that it knows the code; its user is asked.
    func call(_ call: JoinCall, reached inviter: PairingPeer)
    /// The account has come: check it, store it, then say `stored` or `refuse`. No end is reported any more.
    func call(_ call: JoinCall, received account: PairedAccount, from inviter: PairingPeer)
    /// It has ended without the account; said once, never from inside a method of the call.
    func call(_ call: JoinCall, ended end: JoinCall.End)
}

/// One call of a joiner to one inviter, up to the account. Lives on the daemon's loop; dropping it cuts it. Diagram:
/// `docs/state-machines/pairing.md`.
final class JoinCall {
    /// How a call ended without the account.
    enum End {
        /// Nothing that ends the whole attempt. `wasGuess`: whoever answered has our proof of the code, and gave none.
        case here(JoinTargets.CallEnd, wasGuess: Bool = false)
        /// There is no use in going on anywhere.
        case everywhere(PairingFailure)
    }

    /// What every call of one attempt to join needs.
    struct Setting {
        let loop: EventLoop
        let log: Logger
        let dialer: Dialer
        let secret: JoinSecret
        /// The key of this device.
        let identity: SigningKey
        /// What this device is called.
        let name: String
    }

    private enum State {
        /// The state while no TLS is set up.
        case dialling
        /// The state while the inviter has said nothing.
        case listening
        /// The state while code and identity are proved.
        case proving
        /// The state while the inviter's user is asked.
        case waiting(PairingPeer)
        /// The state once the account is here.
        case storing
        /// The state once it has ended.
        case over
    }

    /// TLS with the session inside it.
    private struct Line {
        var session: JoinerSession
        let connection: PeerConnection

        mutating func take(_ event: (inout JoinerSession) -> [JoinerAction]) -> [JoinerAction] { event(&session) }
    }

    /// The window that is called.
    let instance: String
    private let setting: Setting
    /// Nil once it has ended.
    private weak var delegate: (any JoinCallDelegate)?
    private var state = State.dialling
    /// There from the end of `dialling`, until it is over.
    private var line: Line?
    private var dial: Dial?
    private var deadline: LoopTimer?

    /// Starts to call.
    init(
        _ instance: String, at addresses: [SocketAddress], _ setting: Setting, delegate: any JoinCallDelegate
    ) {
        self.instance = instance
        self.setting = setting
        self.delegate = delegate
        // Who answers, the code proves.
        let target = DialTarget(candidates: addresses, token: setting.secret.token, accepts: { _ in true })
        dial = setting.dialer.dial(target) { [weak self] in self?.dialled($0) }
    }

    deinit {
        line?.connection.abort()
    }

    /// Whether the inviter's user is asked now.
    var isWaiting: Bool {
        if case .waiting = state { true } else { false }
    }

    /// The account is stored durably.
    func stored() {
        finish { $0.stored() }
    }

    /// Ends it, and tells the inviter why if there is one.
    func refuse(_ reason: PairingRefusal) {
        finish { $0.refuse(reason) }
    }

    /// Says the last words of this side, if it has not ended.
    private func finish(_ lastWords: (inout JoinerSession) -> [JoinerAction]) {
        if let actions = line?.take(lastWords), let connection = line?.connection {
            for case .send(let bytes) in actions { connection.send(bytes) }
            connection.onClosed = nil
            connection.close("this side has said its last words")
        }
        close()
    }

    // MARK: - Events

    private func dialled(_ result: Result<PeerConnection, DialError>) {
        dial = nil
        switch result {
        case .success(let connection):
            // Fails only without memory.
            guard let exporter = connection.channelBinding else { return end(.here(.silent)) }
            let session = JoinerSession(exporter: exporter, identity: setting.identity, name: setting.name)
            setting.log.debug("Connection to an inviter is open", ["group": connection.group])
            line = Line(session: session, connection: connection)
            state = .listening
            wait(PairingProtocol.proofTime)
            connection.onBytes = { [weak self] in self?.received($0) }
            connection.onClosed = { [weak self] in self?.lost($0) }
        case .failure(let error):
            setting.log.debug("An inviter was called in vain", ["reasons": "\(error)"])
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

    /// Feeds the session, and does what it asks for.
    private func advance(_ event: (inout JoinerSession) -> [JoinerAction]) {
        guard let connection = line?.connection, let actions = line?.take(event) else { return }
        for action in actions { perform(action, connection) }
    }

    private func perform(_ action: JoinerAction, _ connection: PeerConnection) {
        switch action {
        case .send(let bytes): connection.send(bytes)
        case .needsPassword(let salt):
            setting.secret.password(salt) { [weak self] password in
                guard let self else { return }
                guard let password else { return end(.here(.over(.failedHere("the salt is not usable")))) }
                advance { $0.use(password) }
            }
        case .inviter(let inviter):
            state = .waiting(inviter)
            // The inviter ends it in time; longer than that it is not there any more.
            wait(PairingProtocol.windowTime + PairingProtocol.answerGrace + PairingProtocol.transferTime)
            delegate?.call(self, reached: inviter)
        case .account(let account):
            guard case .waiting(let inviter) = state else { return }
            state = .storing
            deadline = nil
            delegate?.call(self, received: account, from: inviter)
        case .ended(let end): ended(end)
        }
    }

    private func ended(_ end: PairingEnd) {
        switch (state, end) {
        // What the inviter thinks of it meanwhile does not matter: the account is here, and is being stored.
        case (.storing, _), (.over, _), (.dialling, _): return
        case (_, .wrongConfirmation): self.end(.everywhere(.untrusted))
        case (.waiting, .refusedByPeer(let reason)):
            switch Self.meaning(of: reason) {
            case .over(let failure): self.end(.everywhere(failure))
            case let other: self.end(.here(other))
            }
        // It has proved nothing: what it says concerns it alone.
        case (_, .refusedByPeer(let reason)): self.end(.here(Self.meaning(of: reason)))
        case (_, .violation(let violation)): self.end(.here(.over(.failedHere(violation.description))))
        case (_, .failed(let error)): self.end(.here(.over(.failedHere(error.description))))
        case (_, .finished), (_, .refused): close()
        }
    }

    private func lost(_ reason: ConnectionEnd) {
        setting.log.debug("A call to an inviter was cut", ["reason": "\(reason)"])
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
        // Fails only without memory; then the end of the whole attempt ends the call.
        deadline = setting.loop.timer(after: time) { [weak self] in self?.deadlinePassed() }
    }

    private func end(_ end: End) {
        let delegate = self.delegate
        let wasGuess = line?.session.hasUnansweredProof ?? false
        line?.connection.abort()
        close()
        if case .here(let callEnd, _) = end {
            delegate?.call(self, ended: .here(callEnd, wasGuess: wasGuess))
        } else {
            delegate?.call(self, ended: end)
        }
    }

    private func close() {
        state = .over
        line = nil
        dial = nil
        deadline = nil
        delegate = nil
    }

    /// The other side has no protocol in common with us: it said so (no_application_protocol, RFC 7301), or we noticed.
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
