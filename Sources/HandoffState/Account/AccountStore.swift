package import HandoffAccount
package import HandoffCrypto
package import HandoffLog
package import HandoffModel
import HandoffProtocol
package import LoopIO
package import Timing

/// Where the account is kept.
package protocol AccountPersistence: Sendable {
    /// Writes the account durably; called on the worker.
    func store(account: AccountState) throws(StateError)
}

/// Who acts on the account. On the daemon's loop.
package protocol AccountStoreDelegate: AnyObject {
    /// How many members are in reach now: a key that was withheld is awaited only with someone to give it.
    var membersInReach: Int { get }
    /// The account that is stored is another one; what it was before.
    func accountChanged(from former: AccountState?, to present: AccountState)
}

/// The account of this device: changes it one at a time, stores each durably before anyone acts on it, and does what
/// is due by itself (closing used tickets, making epochs). Lives on the daemon's loop; files are written on the worker.
/// Diagram: `docs/state-machines/account.md`.
package final class AccountStore {
    /// Why a request about the account is refused.
    package enum Refusal: Error, CustomStringConvertible {
        /// There is no account yet.
        case noAccount
        /// There is one already.
        case exists(AccountID)
        /// This device was removed from its account, and has to leave it before it can be in one again.
        case removed(AccountID)

        package var description: String {
            switch self {
            case .noAccount: "this device has no account yet; create one, or import one that another device exported"
            case .exists(let account): "this device is in account \(account.short) already"
            case .removed(let account):
                "this device was removed from account \(account.short); leave it, which gives the device a new identity"
            }
        }
    }

    typealias Change = (AccountState?) throws -> AccountState?

    private struct Pending {
        let change: Change
        /// What is done with what is stored before anyone acts on it; it calls back when it is done.
        var notifying: ((AccountState, @escaping () -> Void) -> Void)?
        let completion: (Result<AccountState?, any Error>) -> Void
    }

    /// How long to wait between looks at what is due without a change: tickets and epochs end after a day and a month.
    private static let reviewInterval = Duration.seconds(3600)

    /// The key of this device.
    package let device: SigningKey
    /// This device.
    package let deviceID: DeviceID
    /// What this device is called by its configuration; nil when that says nothing.
    let configuredName: String?
    let loop: EventLoop
    private let worker: Worker
    let log: Logger
    private let storage: any AccountPersistence
    let wallClock: any WallClock
    /// Weak: the worker may still be writing when the daemon ends, and the store then looks what is due.
    package weak var delegate: (any AccountStoreDelegate)?
    private var pending: [Pending] = []
    private var isStoring = false
    /// Between a change that this device tells the others of and the moment when it acts on it itself.
    private var isNotifying = false
    private var isAdvancing = false
    private var timer: LoopTimer?
    private var keyAwaitedSince: MonotonicInstant?
    private var turn = EpochTurn()
    /// Since when each ticket is to be closed by somebody.
    private var ticketsSeen: [Fingerprint: MonotonicInstant] = [:]
    /// A ticket is being closed.
    private var isClosing = false
    /// Devices that have finished joining, until that is stored.
    var finishing: Set<DeviceID> = []
    /// How soon what is due here, and could not be stored, is tried again.
    private var backoff = Backoff.account

    /// The account as it is stored; nil without one.
    package private(set) var state: AccountState? {
        didSet { snapshot = AccountSnapshot(own: deviceID, state: state) }
    }

    /// The account as connections and discovery need to know it. Made with each state, as it has digests of the whole roster in it
    /// and each request is judged by it.
    package private(set) var snapshot: AccountSnapshot

    /// A store of what is on the disk now; `review` begins its work.
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

    /// Makes an account with this device as its first member.
    package func create(name: String, completion: @escaping (Result<AccountID, any Error>) -> Void) {
        change { [self] state in
            try refuseAnother(state)
            return try AccountState.creating(device: device, name: name, now: wallClock.unixSeconds)
        } completion: { result in
            completion(
                result.flatMap { state in
                    state.map { .success($0.accountID) } ?? .failure(Refusal.noAccount)
                })
        }
    }

    /// Adds what a member sent; `completion` gets whether all of it was genuine and is stored.
    package func merge(_ statements: [Statement], completion: @escaping (Bool) -> Void) {
        // Of no use to a device that leaves; and behind them the other side may have ended the connection.
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
                log.error("Statements of a member were refused", ["error": "\(error)"])
                completion(false)
            }
        }
    }

    /// Judges the statements of a device that nobody here knows; `completion` gets whether it is a member now.
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

    /// Takes over the account key of the epoch that holds.
    package func accept(_ accountKey: SecretBytes, completion: @escaping (Bool) -> Void) {
        change { [wallClock] state in
            guard let state, !state.isCurrent else { return nil }
            return try state.accepting(accountKey, now: wallClock.unixSeconds)
        } completion: { [log] result in
            switch result {
            case .success: completion(true)
            case .failure(let error):
                log.info("An account key was not taken", ["error": "\(error)"])
                completion(false)
            }
        }
    }

    /// Does what is due now, and looks again when something may be.
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
                // What else is due does not wait for it: it may fail for ever.
                isClosing = true
                closeDue(due.ticket) { [self] in isClosing = false }
            }
        }
        var due = state.epochDue(for: deviceID, now: now, keyAwaited: keyAwaited(state))
        if let pointless = due, isPointless(pointless, state) { due = nil }
        if let rest = turn.rest(of: due, at: loop.now), let due {
            guard rest > .zero else { return makeEpoch(because: due.reason) }
            wait = min(wait, rest)
        }
        // Members come and go without a word here; those that are there now may be asked for the key in vain.
        if !state.isCurrent { wait = min(wait, AccountState.timeoutForKey) }
        rearm(after: wait)
    }

    /// Whether to put off the monthly epoch: while nobody is in reach a new key protects nothing, and another device that
    /// is alone as well would make one of its own; under different keys the two would not find each other again.
    private func isPointless(_ due: EpochDue, _ state: AccountState) -> Bool {
        due.reason == .old && state.view.live.count > 1 && membersInReach == 0
    }

    private var membersInReach: Int { delegate?.membersInReach ?? 0 }

    private func keyAwaited(_ state: AccountState) -> Duration {
        guard !state.isCurrent, state.view.currentEpoch != nil, membersInReach > 0 else {
            keyAwaitedSince = nil
            return .zero
        }
        let since = keyAwaitedSince ?? loop.now
        keyAwaitedSince = since
        // Not zero, which would mean that nobody waits.
        return max(.milliseconds(1), since.duration(to: loop.now))
    }

    private func makeEpoch(because reason: EpochDue.Reason) {
        change { [device, wallClock] state in
            try state?.makingEpoch(by: device, now: wallClock.unixSeconds)
        } completion: { [self] result in
            switch result {
            case .success(let state):
                log.notice("A new account key holds", ["reason": "\(reason)", "epoch": "\(state?.epoch ?? 0)"])
            case .failure(let error):
                log.error("Cannot make a new account key", ["error": "\(error)"])
                retry()
            }
        }
    }

    /// Looks later at what is due, since it could not be done.
    func retry() {
        var generator = SystemRandomNumberGenerator()
        rearm(after: backoff.next(using: &generator))
    }

    private func rearm(after wait: Duration) {
        timer = loop.timer(after: wait, accuracy: .milliseconds(50)) { [unowned self] in review() }
    }

    /// Makes one change after the other: computed from the stored state, stored, then told.
    ///
    /// - Parameters:
    ///   - change: returns nil when there is nothing to change.
    ///   - notifying: what is done, once the change is stored, before anyone acts on it; no other change is made until it
    ///     calls back.
    func change(
        _ change: @escaping Change, notifying: ((AccountState, @escaping () -> Void) -> Void)? = nil,
        completion: @escaping (Result<AccountState?, any Error>) -> Void
    ) {
        pending.append(Pending(change: change, notifying: notifying, completion: completion))
        advance()
    }

    /// Makes the changes that wait, up to one that has to be stored. A loop, and entered once: others decide how many
    /// wait, and each completion may ask for more.
    private func advance() {
        guard !isAdvancing else { return }
        isAdvancing = true
        defer { isAdvancing = false }
        while !isStoring, !pending.isEmpty {
            let next = pending.removeFirst()
            do {
                if var made = try next.change(state) {
                    // Who comes into an account has said its name on the way.
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
                guard let notifying = next.notifying else { return take(made, for: next) }
                isNotifying = true
                notifying(made) { [self] in take(made, for: next) }
            case .failure(let error):
                isStoring = false
                next.completion(.failure(error))
                advance()
            }
        }
    }

    /// Puts what is stored in the place of what was.
    private func take(_ made: AccountState, for next: Pending) {
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

    /// A device is in one account at a time.
    package func refuseAnother(_ state: AccountState?) throws(Refusal) {
        guard let state else { return }
        throw state.view.isLive(deviceID) ? .exists(state.accountID) : .removed(state.accountID)
    }

    /// The account, of which this device has to be a member to change it.
    package func member(_ state: AccountState?) throws(Refusal) -> AccountState {
        guard let state else { throw .noAccount }
        guard state.view.isLive(deviceID) else { throw .removed(state.accountID) }
        return state
    }
}
