import HandoffAccount
import HandoffControl
import HandoffCrypto
import HandoffDiscovery
import HandoffModel
import HandoffPairing
import HandoffState
import HandoffTransport
import LoopIO

/// One attempt of this device to join an account by pairing. Finds inviters, calls them one at a
/// time, and stores the received account. Lives on the daemon's loop. Diagram:
/// `docs/state-machines/pairing.md`.
final class Joiner {
    /// The result of a successful attempt.
    struct Joined {
        /// The account that this device has joined.
        let account: AccountID
        /// The member that admitted it.
        let inviter: PairingDevice
    }

    private enum State {
        /// No call is in progress.
        case idle
        /// A call is in progress.
        case calling(JoinCall)
        /// The account is being checked and stored.
        case storing(JoinCall)
        /// Checks whether a missing network is the cause of the failure.
        case failing
        /// The attempt has ended.
        case over
    }

    /// Nil once the attempt has ended.
    weak var service: PairingService?

    private let loop: EventLoop
    private let log: Logger
    private let limits: PairingLimits
    private let worker: Worker
    private let place: JoinPlace
    private let pairingDiscovery: PairingDiscovery
    private let accountStore: AccountStore
    private let addresses: PairingAddresses
    private let wallClock: any WallClock
    private let setting: JoinCall.Setting
    private var state = State.idle
    private var targets: JoinTargets
    private var search: PairingSearch?
    private var settled: MonotonicInstant
    private var lastAddress: String?
    /// Timer for the next attempt. ``deadline`` is the timer for the overall deadline.
    private var timer: LoopTimer?
    private var deadline: LoopTimer?

    /// Creates an attempt without starting it.
    ///
    /// - Parameter name: the name of this device.
    /// - Throws: `PairingFailure` if the code or link is invalid, `CallError` for an invalid
    ///   address.
    init(
        _ request: JoinRequest, name: String, addresses: PairingAddresses, pairingDiscovery: PairingDiscovery,
        limits: PairingLimits = PairingLimits(), accountStore: AccountStore, wallClock: any WallClock, loop: EventLoop,
        log: Logger
    ) throws {
        let worker = try Worker(name: "pairing")
        let (given, place) = try JoinPlace.read(request)
        self.loop = loop
        self.log = log
        self.limits = limits
        self.worker = worker
        self.place = place
        self.pairingDiscovery = pairingDiscovery
        self.accountStore = accountStore
        self.addresses = addresses
        self.wallClock = wallClock
        settled = loop.now.advanced(by: limits.settling)
        targets = JoinTargets(limits: limits)
        setting = JoinCall.Setting(
            loop: loop, log: log,
            dialer: Dialer(context: try TLSContext.pairingClient(), limits: limits.transport, on: loop),
            secret: JoinSecret(given, worker: worker, loop: loop), identity: accountStore.device,
            name: name)
    }

    // MARK: - Starting and ending

    func start() {
        timer = loop.timer(after: limits.join) { [weak self] in self?.advance() }
        deadline = loop.timer(after: limits.join) { [weak self] in self?.deadlinePassed() }
        switch place {
        case .anywhere:
            service?.joiner(self, tells: .looking)
            startSearch()
        case .known(let peers): resolve(peers)
        }
    }

    /// Cancels the attempt and notifies the inviter. Does nothing while the account is being
    /// stored, which takes only a moment.
    func cancel(_ failure: PairingFailure) {
        switch state {
        case .storing, .over: return
        case .idle, .failing: break
        case .calling(let call): call.refuse(failure.refusal)
        }
        end(.failure(failure))
    }

    private func end(_ result: Result<Joined, PairingFailure>) {
        if case .over = state { return }
        state = .over
        timer = nil
        deadline = nil
        search = nil
        let service = self.service
        self.service = nil
        service?.joiner(self, ended: result)
    }

    // MARK: - Finding

    private func startSearch() {
        worker.run({ [addresses] in addresses.isOnNetwork() }, on: loop) { [weak self] result in
            guard let self, case .idle = state else { return }
            guard case .success(true) = result else { return end(.failure(.noNetwork)) }
            search = PairingSearch(pairingDiscovery, limit: limits.instances) { [weak self] in self?.found($0) }
            // Without discovery no inviter can be found.
            if search == nil { return end(.failure(.nobodyThere)) }
            settled = loop.now.advanced(by: limits.settling)
            timer?.rearm(after: limits.search)
        }
    }

    private func found(_ service: DiscoveredService) {
        targets.found(service, now: loop.now)
        advance()
    }

    private func resolve(_ peers: [StaticPeer]) {
        let addresses = peers.compactMap(\.address)
        guard addresses.count < peers.count else { return call(addresses, peers) }
        // Names are looked up on a worker because that can take seconds.
        worker.run({ peers.flatMap { peer in peer.address.map { [$0] } ?? NameLookup.addresses(of: peer) } }, on: loop)
        {
            [weak self] result in
            guard let self, case .idle = state else { return }
            call((try? result.get()) ?? [], peers)
        }
    }

    private func call(_ addresses: [SocketAddress], _ peers: [StaticPeer]) {
        guard let first = peers.first, !addresses.isEmpty else {
            return fail(.unreachable(peers.map(\.description)))
        }
        settled = loop.now
        targets.add(first.instance, at: addresses, now: loop.now)
        advance()
    }

    // MARK: - Calling

    /// Calls the next inviter, waits, or fails. Called after every event that can affect the
    /// decision.
    private func advance() {
        guard case .idle = state else { return }
        if let target = targets.next(now: loop.now) { return call(target.instance, at: target.addresses) }
        if let next = targets.nextTime {
            timer?.rearm(at: next)
        } else if targets.isEmpty {
            // The timer was set for the whole search, which is over.
            if timer?.isArmed != true { fail(.nobodyThere) }
        } else if loop.now < settled {
            timer?.rearm(at: settled)
        } else {
            fail(targets.failure)
        }
    }

    private func call(_ instance: String, at addresses: [SocketAddress]) {
        if let address = addresses.first?.description, address != lastAddress {
            lastAddress = address
            service?.joiner(self, tells: .calling(address: address))
        }
        state = .calling(JoinCall(instance, at: addresses, setting, joiner: self))
    }

    /// Called by `call` when the inviter has proved that it knows the code, and its user is being asked.
    func call(_ call: JoinCall, reached inviter: PairingPeer) {
        log.notice("The inviting device knows the code", ["device": inviter.device.short])
        service?.joiner(self, tells: .waiting(PairingDevice(inviter)))
    }

    /// Called when the account has arrived. The result is passed to `stored` or `refuse` of the call,
    /// which reports no end after this.
    func call(_ call: JoinCall, received account: PairedAccount, from inviter: PairingPeer) {
        store(account, from: inviter, call)
    }

    /// Called once when the call has ended without the account, never from inside a method of the
    /// call.
    func call(_ call: JoinCall, ended end: JoinCall.End) {
        guard case .calling = state else { return }
        state = .idle
        switch end {
        case .everywhere(let failure): fail(failure)
        case .here(let end, let wasGuess):
            targets.ended(call.instance, end, wasGuess: wasGuess, now: loop.now)
            guard deadline?.isArmed == true else { return fail(targets.failure) }
            advance()
        }
    }

    private func deadlinePassed() {
        switch state {
        // The inviter's user may still answer.
        case .calling(let call) where call.isWaiting: break
        case .storing, .failing, .over: break
        case .idle, .calling:
            if case .calling(let call) = state { call.refuse(.cancelled) }
            fail(targets.failure)
        }
    }

    /// Ends the attempt. Reports a missing network instead if no inviter could be reached because
    /// of it.
    private func fail(_ failure: PairingFailure) {
        guard failure.reason == .unreachable || failure.reason == .nobodyThere else { return end(.failure(failure)) }
        state = .failing
        worker.run({ [addresses] in addresses.isOnNetwork() }, on: loop) { [weak self] result in
            guard let self, case .failing = state else { return }
            let isOnNetwork = (try? result.get()) ?? true
            end(.failure(isOnNetwork ? failure : .noNetwork))
        }
    }

    // MARK: - Storing

    private func store(_ account: PairedAccount, from inviter: PairingPeer, _ call: JoinCall) {
        state = .storing(call)
        let device = DeviceID(accountStore.device.publicKey)
        let now = wallClock.unixSeconds
        // Checking thousands of signatures takes a second.
        worker.run({ try account.state(for: device, inviter: inviter, now: now).roster }, on: loop) {
            [weak self] result in
            guard let self, case .storing = state else { return }
            switch result {
            case .failure(let error): refuse(error, call)
            case .success(let roster):
                accountStore.join(roster: roster, accountKey: account.accountKey) { [weak self] result in
                    guard let self, case .storing = state else { return }
                    switch result {
                    case .failure(let error): refuse(error, call)
                    case .success(let id):
                        call.stored()
                        end(.success(Joined(account: id, inviter: PairingDevice(inviter))))
                    }
                }
            }
        }
    }

    private func refuse(_ error: any Error, _ call: JoinCall) {
        log.error("Cannot store the received account", ["error": "\(error)"])
        let failure: PairingFailure = error is AccountStore.Refusal ? .alreadyInAccount : .failedHere("\(error)")
        call.refuse(failure.refusal)
        end(.failure(failure))
    }
}
