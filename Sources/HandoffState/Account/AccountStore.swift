package import HandoffAccount
package import HandoffCrypto
package import HandoffModel
import HandoffProtocol
package import LoopIO

/// Stores the account.
package protocol AccountPersistence: Sendable {
    /// Writes the account durably. Called on the worker.
    func store(account: AccountState) throws(StateError)
}

/// Responds to changes of the account. Called on the daemon's loop.
package protocol AccountStoreDelegate: AnyObject {
    /// The number of members reachable now. The wait for a withheld key runs only while a member
    /// can send it.
    var onlineMemberCount: Int { get }
    /// Called after a changed account has been stored.
    func accountChanged(from former: AccountState?, to present: AccountState)
}

/// The account of this device. Applies one change at a time, stores each durably before anything
/// acts on it, and performs due work (closing used tickets, creating epochs). Lives on the daemon's
/// loop; files are written on the worker. Diagram: `docs/state-machines/account.md`.
package final class AccountStore {
    /// Why a request about the account is refused.
    package enum Refusal: Error, CustomStringConvertible {
        /// This device has no account.
        case noAccount
        /// This device already has an account.
        case exists(AccountID)
        /// This device was removed from its account and must leave it before it can join one again.
        case removed(AccountID)

        package var description: String {
            switch self {
            case .noAccount: "this device has no account; create one, or import one that another device exported"
            case .exists(let account): "this device is already in account \(account.short)"
            case .removed(let account):
                "this device was removed from account \(account.short); leave it, which gives the device a new identity"
            }
        }
    }

    typealias Change = (AccountState?) throws -> AccountState?

    private struct Pending {
        let change: Change
        /// Processes the stored state before anything acts on it, and calls back when done.
        var notifying: ((AccountState, @escaping () -> Void) -> Void)?
        let completion: (Result<AccountState?, any Error>) -> Void
    }

    /// Interval between checks for due work when nothing changes. Tickets expire after a day and
    /// epochs after a month.
    private static let reviewInterval = Duration.seconds(3600)

    /// The key of this device.
    package let device: SigningKey
    /// This device.
    package let deviceID: DeviceID
    /// The configured name of this device, or nil if none is configured.
    let configuredName: String?
    let loop: EventLoop
    private let worker: Worker
    let log: Logger
    private let storage: any AccountPersistence
    let wallClock: any WallClock
    /// Weak because the worker may still be writing during shutdown, after which the store checks
    /// for due work.
    package weak var delegate: (any AccountStoreDelegate)?
    private var pending: [Pending] = []
    private var isStoring = false
    /// True between storing a change and acting on it, while the other devices are notified.
    private var isNotifying = false
    private var isAdvancing = false
    private var timer: LoopTimer?
    private var keyAwaitedSince: MonotonicInstant?
    private var turn = EpochTurn()
    /// When closing each ticket became due.
    private var ticketsSeen: [Fingerprint: MonotonicInstant] = [:]
    /// True while a ticket is being closed.
    private var isClosing = false
    /// Devices that have finished joining, until that is stored.
    var finishing: Set<DeviceID> = []
    /// The delay before due work that could not be stored is retried.
    private var backoff = Backoff.account

    /// The account as stored, or nil without one.
    package private(set) var state: AccountState? {
        didSet { snapshot = AccountSnapshot(own: deviceID, state: state) }
    }

    /// The account as connections and discovery need it. Created with each state, because it
    /// contains digests of the whole roster and every request is checked against it.
    package private(set) var snapshot: AccountSnapshot

    /// Creates a store for the state on disk. ``review()`` starts its work.
    package init(
        device: SigningKey, configuredName: String? = nil, state: AccountState?, loop: EventLoop, worker: Worker,
        log: Logger, storage: any AccountPersistence, wallClock: any WallClock
    ) {
        self.device = device
        self.configuredName = configuredName
        deviceID = DeviceID(device.publicKey)
        self.state = state
        snapshot = AccountSnapshot(own: deviceID, state: state)
        self.loop = loop
        self.worker = worker
        self.log = log
        self.storage = storage
        self.wallClock = wallClock
    }

    /// Creates an account with this device as its first member.
    package func create(name: String, completion: @escaping (Result<AccountID, any Error>) -> Void) {
        change { [self] state in
            try requireNoAccount(state)
            return try AccountState.creating(device: device, name: name, now: wallClock.unixSeconds)
        } completion: { result in
            completion(
                result.flatMap { state in
                    state.map { .success($0.accountID) } ?? .failure(Refusal.noAccount)
                })
        }
    }

    /// Adds statements from a member. `completion` receives true when all of them were genuine and
    /// are stored.
    package func merge(_ statements: [Statement], completion: @escaping (Bool) -> Void) {
        // Useless to a device that is leaving, and the sender may have closed the connection after
        // sending.
        guard !isNotifying else { return completion(true) }
        change { [log] state in
            guard let state else { return nil }
            let merge = try state.merging(statements)
            for complaint in merge.result.complaints { log.error("\(complaint)") }
            return merge.result.hasChanged ? merge.state : nil
        } completion: { [log] result in
            switch result {
            case .success: completion(true)
            case .failure(let error):
                log.error("Rejected the statements of a member", ["error": "\(error)"])
                completion(false)
            }
        }
    }

    /// Merges the statements of an unknown device. `completion` receives whether it is a member
    /// now.
    package func introduce(_ presenter: PublicKey, _ statements: [Statement], completion: @escaping (Bool) -> Void) {
        var isMember = false
        change { [device] state in
            guard let state, let made = try state.introducing(presenter, with: statements, by: device) else {
                return nil
            }
            isMember = true
            return made.roster.digest == state.roster.digest ? nil : made
        } completion: { result in
            if case .failure = result { isMember = false }
            completion(isMember)
        }
    }

    /// Accepts the account key of the current epoch.
    package func accept(_ accountKey: SecretBytes, completion: @escaping (Bool) -> Void) {
        change { [wallClock] state in
            guard let state, !state.isCurrent else { return nil }
            return try state.accepting(accountKey, now: wallClock.unixSeconds)
        } completion: { [log] result in
            switch result {
            case .success: completion(true)
            case .failure(let error):
                log.info("Rejected an account key", ["error": "\(error)"])
                completion(false)
            }
        }
    }

    /// Performs due work, and schedules the next check.
    package func review() {
        guard let state else { return }
        let now = wallClock.unixSeconds
        finishing.formIntersection(state.unfinished)
        if !finishing.isEmpty { return noteFinished() }
        var wait = Self.reviewInterval
        let tickets = state.ticketsDue(for: deviceID, now: now)
        ticketsSeen = ticketsSeen.filter { seen in tickets.contains { $0.ticket == seen.key } }
        for due in tickets {
            let since = ticketsSeen[due.ticket] ?? loop.now
            ticketsSeen[due.ticket] = since
            let rest = loop.now.duration(to: since.advanced(by: due.after))
            if rest > .zero {
                wait = min(wait, rest)
            } else if !isClosing {
                // Other due work does not wait for this, because it may fail permanently.
                isClosing = true
                closeDue(due.ticket) { [self] in isClosing = false }
            }
        }
        let due = epochDue(state)
        if let rest = turn.rest(of: due, at: loop.now), let due {
            guard rest > .zero else { return makeEpoch(because: due.reason) }
            wait = min(wait, rest)
        }
        // The store is not notified of members that connect, and those reachable now may not send
        // the key.
        if !state.isCurrent { wait = min(wait, AccountState.keyTimeout) }
        rearm(after: wait)
    }

    private func epochDue(_ state: AccountState) -> EpochDue? {
        let due = state.epochDue(for: deviceID, now: wallClock.unixSeconds, keyAwaited: keyAwaited(state))
        return due.flatMap { shouldPostpone($0, state) ? nil : $0 }
    }

    /// Returns whether to postpone the monthly epoch. While no member is reachable, a new key
    /// protects nothing. Another isolated device would also create one, and under different keys
    /// the two would not find each other.
    private func shouldPostpone(_ due: EpochDue, _ state: AccountState) -> Bool {
        due.reason == .old && state.view.live.count > 1 && onlineMemberCount == 0
    }

    private var onlineMemberCount: Int { delegate?.onlineMemberCount ?? 0 }

    private func keyAwaited(_ state: AccountState) -> Duration {
        guard !state.isCurrent, state.view.currentEpoch != nil, onlineMemberCount > 0 else {
            keyAwaitedSince = nil
            return .zero
        }
        let since = keyAwaitedSince ?? loop.now
        keyAwaitedSince = since
        // Not zero, which would mean that this device is not waiting.
        return max(.milliseconds(1), since.duration(to: loop.now))
    }

    private func makeEpoch(because reason: EpochDue.Reason) {
        var isCreated = false
        change { [self] state in
            // The epoch of another member may have been stored since the review.
            guard let state, epochDue(state)?.reason == reason else { return nil }
            isCreated = true
            return try state.makingEpoch(by: device, now: wallClock.unixSeconds)
        } completion: { [self] result in
            switch result {
            case .success where !isCreated: review()
            case .success(let state):
                log.notice("A new account key is in use", ["reason": "\(reason)", "epoch": "\(state?.epoch ?? 0)"])
            case .failure(let error):
                log.error("Cannot create a new account key", ["error": "\(error)"])
                retry()
            }
        }
    }

    /// Schedules another check after due work failed.
    func retry() {
        var generator = SystemRandomNumberGenerator()
        rearm(after: backoff.next(using: &generator))
    }

    private func rearm(after wait: Duration) {
        timer = loop.timer(after: wait, accuracy: .milliseconds(50)) { [unowned self] in review() }
    }

    /// Applies changes one after the other: each is computed from the stored state, stored, then
    /// reported.
    ///
    /// - Parameters:
    ///   - change: returns nil when there is nothing to change.
    ///   - notifying: called after the change is stored and before anything acts on it. No other
    ///     change is applied until it calls back.
    func change(
        _ change: @escaping Change, notifying: ((AccountState, @escaping () -> Void) -> Void)? = nil,
        completion: @escaping (Result<AccountState?, any Error>) -> Void
    ) {
        pending.append(Pending(change: change, notifying: notifying, completion: completion))
        advance()
    }

    /// Applies pending changes up to one that must be stored. Uses a loop and is not re-entered,
    /// because callers decide how many changes are pending and each completion may add more.
    private func advance() {
        guard !isAdvancing else { return }
        isAdvancing = true
        defer { isAdvancing = false }
        while !isStoring, !pending.isEmpty {
            let next = pending.removeFirst()
            do {
                if var made = try next.change(state) {
                    // A device that joins an account gives its name in the process.
                    if state == nil { made.configuredName = configuredName }
                    store(made, for: next)
                } else {
                    next.completion(.success(state))
                }
            } catch {
                next.completion(.failure(error))
            }
        }
    }

    private func store(_ made: AccountState, for next: Pending) {
        isStoring = true
        worker.run({ [storage] in try storage.store(account: made) }, on: loop) { [self] result in
            switch result {
            case .success:
                guard let notifying = next.notifying else { return commit(made, for: next) }
                isNotifying = true
                notifying(made) { [self] in commit(made, for: next) }
            case .failure(let error):
                isStoring = false
                next.completion(.failure(error))
                advance()
            }
        }
    }

    /// Replaces the state with the stored one.
    private func commit(_ made: AccountState, for next: Pending) {
        isStoring = false
        isNotifying = false
        backoff.reset()
        let former = state
        state = made
        delegate?.accountChanged(from: former, to: made)
        next.completion(.success(made))
        review()
        advance()
    }

    /// Throws if the device is in an account: it can be in only one at a time.
    package func requireNoAccount(_ state: AccountState?) throws(Refusal) {
        guard let state else { return }
        throw state.view.isLive(deviceID) ? .exists(state.accountID) : .removed(state.accountID)
    }

    /// Returns the account. Throws unless this device is a member and may change it.
    package func member(_ state: AccountState?) throws(Refusal) -> AccountState {
        guard let state else { throw .noAccount }
        guard state.view.isLive(deviceID) else { throw .removed(state.accountID) }
        return state
    }
}
