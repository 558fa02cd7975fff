import HandoffAccount
package import HandoffControl
import HandoffCrypto
import HandoffDiscovery
package import HandoffLog
package import HandoffModel
import HandoffPairing
package import HandoffState
import HandoffTLS
import HandoffTransport
package import LoopIO
package import Timing

/// Who wants to join. On the daemon's loop.
package protocol JoinerDelegate: AnyObject {
    /// Tells the user how it goes.
    func joiner(_ joiner: Joiner, tells event: JoinEvent)
    /// It has ended; said once.
    func joiner(_ joiner: Joiner, ended result: Result<Joiner.Joined, PairingFailure>)
}

/// One attempt of this device to join an account by pairing: finds inviters, calls them one at a time, and stores the
/// account that it is given. Lives on the daemon's loop. Diagram: `docs/state-machines/pairing.md`.
package final class Joiner: JoinCallDelegate {
    /// What came of it.
    package struct Joined {
        /// The account that this device is in now.
        package let account: AccountID
        /// The member that let it in.
        package let inviter: PairingDevice
    }

    private enum State {
        /// The state while nobody is called.
        case idle
        /// The state while somebody is called.
        case calling(JoinCall)
        /// The state while the account is checked and stored.
        case storing(JoinCall)
        /// The state while it is found out whether the network is to blame.
        case failing
        /// The state once it has ended.
        case over
    }

    /// Nil once it has ended.
    package weak var delegate: (any JoinerDelegate)?

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
    /// For what comes next, and for the end of all patience.
    private var timer: LoopTimer?
    private var deadline: LoopTimer?

    /// An attempt that has not begun.
    ///
    /// - Parameter name: what this device is called.
    /// - Throws: `PairingFailure` when the code or link cannot be right, `CallError` for a wrong address.
    package init(
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

    // MARK: - Life

    /// Begins.
    package func start() {
        timer = loop.timer(after: limits.join) { [weak self] in self?.advance() }
        deadline = loop.timer(after: limits.join) { [weak self] in self?.deadlinePassed() }
        switch place {
        case .anywhere:
            delegate?.joiner(self, tells: .looking)
            startSearch()
        case .known(let peers): resolve(peers)
        }
    }

    /// Gives up and tells the inviter; does nothing once the account is being stored, which is over in a moment.
    package func cancel(_ failure: PairingFailure) {
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
        let delegate = self.delegate
        self.delegate = nil
        delegate?.joiner(self, ended: result)
    }

    // MARK: - Finding

    private func startSearch() {
        worker.run({ [addresses] in addresses.isOnNetwork() }, on: loop) { [weak self] result in
            guard let self, case .idle = state else { return }
            guard case .success(true) = result else { return end(.failure(.noNetwork)) }
            search = PairingSearch(pairingDiscovery, limit: limits.instances) { [weak self] in self?.found($0) }
            // Where nothing is discovered nobody can be found.
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
        // Names are looked up on a worker, for they may take seconds.
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

    /// Calls whoever is next, or waits, or gives up. Called after everything that may change the answer.
    private func advance() {
        guard case .idle = state else { return }
        if let target = targets.next(now: loop.now) { return call(target.instance, at: target.addresses) }
        if let next = targets.nextTime {
            timer?.rearm(at: next)
        } else if targets.isEmpty {
            // The timer was set for the whole search, and that is over.
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
            delegate?.joiner(self, tells: .calling(address: address))
        }
        state = .calling(JoinCall(instance, at: addresses, setting, delegate: self))
    }

    func call(_ call: JoinCall, reached inviter: PairingPeer) {
        log.notice("The inviting device knows the code", ["device": inviter.device.short])
        delegate?.joiner(self, tells: .waiting(PairingDevice(inviter)))
    }

    func call(_ call: JoinCall, received account: PairedAccount, from inviter: PairingPeer) {
        store(account, from: inviter, call)
    }

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
        // Its user may still answer.
        case .calling(let call) where call.isWaiting: break
        case .storing, .failing, .over: break
        case .idle, .calling:
            if case .calling(let call) = state { call.refuse(.cancelled) }
            fail(targets.failure)
        }
    }

    /// Ends it; when nobody could be reached, because there is no network, it says that.
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
        // Thousands of signatures are checked in a second, not at once.
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
        log.error("The account that was handed over was not taken", ["error": "\(error)"])
        let failure: PairingFailure = error is AccountStore.Refusal ? .memberMeanwhile : .failedHere("\(error)")
        call.refuse(failure.refusal)
        end(.failure(failure))
    }
}
