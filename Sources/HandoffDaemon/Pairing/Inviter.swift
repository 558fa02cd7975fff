import HandoffAccount
import HandoffControl
import HandoffCrypto
import HandoffDiscovery
import HandoffModel
import HandoffPairing
import HandoffProtocol
import HandoffState
import HandoffTransport
import LoopIO

/// An open pairing window: listens, announces itself, lets `PairingWindow` decide which session may
/// prove the code, asks the user, and sends the account. Lives on the daemon's loop and serves one
/// window. Diagram: `docs/state-machines/pairing.md`.
///
/// `Inviter+Sessions.swift` handles individual connections.
final class Inviter {
    /// The secrets that admit a joiner.
    struct Secrets {
        /// The digits with their salt and password; nil while only the link is accepted.
        let digits: (code: PairingCode, salt: PairingSalt, password: PairingPassword)?
        let link: PairingLink
        let linkSalt: PairingSalt
        let linkPassword: PairingPassword
    }

    enum State {
        /// The secrets are being created.
        case preparing
        /// Devices may connect.
        case open(Secrets)
        /// The window has ended.
        case over
    }

    /// Nil once the window has ended.
    weak var service: PairingService?

    /// The port it listens on.
    let port: UInt16

    let loop: EventLoop
    let log: Logger
    let accountStore: AccountStore
    /// The limit on tried codes for the lifetime of the daemon. Wrong guesses change it.
    let attempts: PairingAttempts
    /// The addresses of this machine that may be shown.
    private let addresses: PairingAddresses
    var state = State.preparing
    var window: PairingWindow
    /// Connections whose TLS handshake has not finished.
    var arriving: [PairingWindow.SessionID: PeerConnection] = [:]
    /// Connections with a session.
    var joiners: [PairingWindow.SessionID: JoinerConnection] = [:]
    private let isAutomatic: Bool
    private let pairingDiscovery: PairingDiscovery
    private let limits: PairingLimits
    private let worker: Worker
    private let listener: PairingListener
    private var announcer: PairingAnnouncer?
    private var timer: LoopTimer?
    /// Connections that are sending a refusal, newest last. They keep their sockets for a second at
    /// most.
    private var ending: [PeerConnection] = []

    /// Starts to listen without accepting connections yet.
    ///
    /// - Parameters:
    ///   - isAutomatic: whether the first device that knows the code is admitted without asking the
    ///     user.
    ///   - ports: the ports to try first.
    ///   - address: the address to listen on, or nil for all.
    init(
        isAutomatic: Bool, ports: ClosedRange<UInt16>?, addresses: PairingAddresses,
        pairingDiscovery: PairingDiscovery, limits: PairingLimits = PairingLimits(),
        accountStore: AccountStore, attempts: PairingAttempts, loop: EventLoop, log: Logger
    ) throws {
        self.isAutomatic = isAutomatic
        self.pairingDiscovery = pairingDiscovery
        self.limits = limits
        self.loop = loop
        self.log = log
        self.accountStore = accountStore
        self.attempts = attempts
        self.addresses = addresses
        window = PairingWindow(attempts: attempts.value, now: loop.now)
        worker = try Worker(name: "pairing")
        // Created for this window and discarded with it, so it reveals nothing about the device.
        let context = try TLSContext(pairingServer: try TLSIdentity(key: try SigningKey()))
        listener = try PairingListener(
            ports: ports, address: addresses.only, context: context, limits: limits.transport, on: loop)
        port = listener.port
    }

    // MARK: - Opening

    /// Creates the secrets, then accepts connections.
    func open() {
        listener.onArrival = { [weak self] in self?.arrived($0) }
        let offersDigits = window.offersDigits
        // The digits cost 0.2 s of processor time and 64 MiB; addresses need system calls.
        worker.run(
            { [port, addresses] in
                let code = offersDigits ? PairingCode() : nil
                let salted = try code.map { try PairingPassword.salted($0) }
                let places = addresses.reachable().map { SocketAddress($0, port: port).description }
                return (code, salted, places)
            }, on: loop
        ) { [weak self] result in
            self?.prepared(
                result.map { code, salted, places in
                    let digits = code.flatMap { code in salted.map { (code: code, salt: $0.0, password: $0.1) } }
                    return (digits, places)
                })
        }
    }

    private typealias Prepared = (
        digits: (code: PairingCode, salt: PairingSalt, password: PairingPassword)?, places: [String]
    )

    private func prepared(_ result: Result<Prepared, any Error>) {
        guard case .preparing = state else { return }
        do {
            let (digits, places) = try result.get()
            let link = try PairingLink(candidates: places)
            let (linkSalt, linkPassword) = try PairingPassword.salted(link)
            state = .open(Secrets(digits: digits, link: link, linkSalt: linkSalt, linkPassword: linkPassword))
            timer = loop.timer(after: Limits.pairingWindowLifetime) { [weak self] in self?.timePassed() }
            announcer = PairingAnnouncer(pairingDiscovery, port: port)
            service?.inviter(
                self,
                tells: .opened(
                    PairingWindowDescription(
                        code: digits?.code.digits, link: link.text, addresses: places,
                        seconds: Int(Limits.pairingWindowLifetime.components.seconds))))
            rearm()
        } catch {
            end(.inviterFailed("\(error)"))
        }
    }

    /// Handles the user's answer about a device.
    /// - Returns: false if the window is not waiting for it.
    func answer(_ device: DeviceID, accept: Bool) -> Bool {
        guard let (id, joiner) = joiners.first(where: { $0.value.isAsked && $0.value.peer?.device == device }) else {
            return false
        }
        guard accept else {
            log.notice("The user rejected a device", ["device": device.short])
            end(.declinedHere)
            return true
        }
        return agree(to: joiner, id)
    }

    /// Asks the user about a device, unless this is unnecessary.
    func ask(about joiner: JoinerConnection, _ id: PairingWindow.SessionID, _ peer: PairingPeer) {
        window.asks(id)
        joiner.peer = peer
        joiner.isAsked = true
        guard accountStore.state?.view.isRemoved(peer.device) != true else {
            return end(.removedDevice(peer.name))
        }
        log.notice("A device knows the pairing code", ["device": peer.device.short])
        guard isAutomatic else {
            service?.inviter(self, tells: .confirm(PairingDevice(peer)))
            return
        }
        _ = agree(to: joiner, id)
    }

    private func agree(to joiner: JoinerConnection, _ id: PairingWindow.SessionID) -> Bool {
        guard let peer = joiner.peer, window.agreed(to: id, now: loop.now) else { return false }
        joiner.isAsked = false
        rearm()
        service?.inviter(self, tells: .joining(PairingDevice(peer)))
        admit(peer, id, until: loop.now.advanced(by: Self.keyTimeout))
        return true
    }

    /// The maximum wait for the key of a new epoch that has not arrived yet.
    private static let keyTimeout = Duration.seconds(4)
    private static let keyInterval = Duration.milliseconds(100)

    /// Admits the device durably before sending anything to it. A key is never sent to a device
    /// that is not live in our stored roster.
    private func admit(_ peer: PairingPeer, _ id: PairingWindow.SessionID, until end: MonotonicInstant) {
        accountStore.admit(peer.publicKey, name: peer.name) { [weak self] result in
            guard let self else { return }
            guard lacksKey(result, for: peer), loop.now < end else { return admitted(peer, id, result) }
            joiners[id]?.keyTimer = loop.timer(after: Self.keyInterval) { [weak self] in
                self?.admit(peer, id, until: end)
            }
        }
    }

    /// Returns whether only the account key is missing, because another member has just changed it.
    private func lacksKey(_ result: Result<AccountState, any Error>, for peer: PairingPeer) -> Bool {
        switch result {
        case .success(let account): account.keyToHandOver(to: peer.device) == nil
        case .failure(AccountError.noCurrentKey): true
        case .failure: false
        }
    }

    private func admitted(
        _ peer: PairingPeer, _ id: PairingWindow.SessionID, _ result: Result<AccountState, any Error>
    ) {
        guard let joiner = joiners[id] else { return }
        switch result {
        case .success(let account):
            guard let held = account.keyToHandOver(to: peer.device) else {
                return end(.unfinished(peer.name))
            }
            log.info("Sending the account to a device", ["device": peer.device.short])
            perform(
                joiner.machine.handOver(
                    epoch: UInt64(held.n), accountKey: held.accountKey, statements: account.roster.encoded()), joiner,
                id
            )
        case .failure(let error):
            log.error("Cannot admit a device", ["device": peer.device.short, "error": "\(error)"])
            switch error {
            case AccountError.full: end(.fullHere)
            case AccountError.removedPermanently: end(.removedDevice(peer.name))
            case is AccountStore.Refusal: end(.noLongerMember)
            default: end(.inviterFailed("\(error)"))
            }
        }
    }

    // MARK: - Ending

    /// Ends the window, unless a device is receiving the account: the user has agreed to that, and
    /// it finishes within seconds.
    func cancel(_ failure: PairingFailure) {
        if joiners.values.contains(where: \.isJoining) { return }
        end(failure)
    }

    /// Ends the window immediately.
    ///
    /// - Parameters:
    ///   - failure: the reason, which is sent to the device that has proved the code, if any.
    ///   - withdrawn: called when the announcement has been withdrawn, on discovery's thread or
    ///     immediately.
    func end(_ failure: PairingFailure, withdrawn: @escaping @Sendable () -> Void = {}) {
        guard !isOver else { return withdrawn() }
        for id in window.close() {
            guard let joiner = joiners[id] else { continue }
            perform(joiner.machine.refuse(joiner.peer == nil ? .windowClosed : failure.refusal), joiner, id)
        }
        finish(.failure(failure), withdrawn: withdrawn)
    }

    /// True if the window has ended.
    var isOver: Bool {
        if case .over = state { true } else { false }
    }

    /// Reports the end and releases all resources.
    func finish(
        _ result: Result<PairingDevice, PairingFailure>, withdrawn: @escaping @Sendable () -> Void = {}
    ) {
        guard !isOver else { return withdrawn() }
        state = .over
        _ = window.close()
        timer = nil
        listener.close()
        for connection in arriving.values { connection.abort() }
        for joiner in joiners.values { joiner.connection.abort() }
        arriving = [:]
        joiners = [:]
        if let announcer { announcer.stop(withdrawn) } else { withdrawn() }
        announcer = nil
        let service = self.service
        self.service = nil
        service?.inviter(self, ended: result)
    }

    /// Closes a connection after its last bytes are sent. If there are too many, the oldest are
    /// aborted.
    func finishSending(_ connection: PeerConnection) {
        connection.onClosed = nil
        connection.close("the pairing session has ended")
        ending.append(connection)
        while ending.count > limits.ending { ending.removeFirst().abort() }
    }

    // MARK: - Time

    /// Sets the timer to the next deadline of the window.
    func rearm() {
        guard let next = window.nextDeadline else { return }
        timer?.rearm(at: MonotonicInstant(nanoseconds: next.nanoseconds))
    }

    private func timePassed() {
        let now = loop.now
        for expiry in window.expire(now: now) {
            switch expiry {
            case .late(let id):
                arriving.removeValue(forKey: id)?.abort()
                guard let joiner = joiners.removeValue(forKey: id) else { continue }
                joiner.connection.abort()
                if joiner.isJoining { finish(.failure(.unfinished(joiner.peer?.name ?? "the device"))) }
            case .closed(let id):
                if let joiner = joiners[id] { perform(joiner.machine.refuse(.windowClosed), joiner, id) }
            case .over: finish(.failure(.windowExpired))
            }
        }
        rearm()
    }
}
