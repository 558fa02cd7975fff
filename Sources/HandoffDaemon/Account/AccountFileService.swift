import HandoffAccount
import HandoffCrypto
import HandoffModel
import HandoffPeers
import HandoffState
import LoopIO

/// Imports and exports account files over the control socket, a few at a time. Lives on the
/// daemon's loop. The worker derives keys from passphrases.
final class AccountFileService {
    /// The maximum size of an account file: a roster of at most 8 MiB, and the seed of a ticket.
    static let maxFile = 8 * 1024 * 1024 + 64 * 1024
    /// The maximum number of streams. Each may hold a file, and 64 MiB while a key is derived (one
    /// at a time on the worker).
    static let maxStreams = 4
    /// The time for which an import waits for a member.
    private static let timeoutForMembers = Duration.seconds(8)
    /// The time in which a client must send its input, and again that in which it must receive the
    /// file.
    static let timeout = Duration.seconds(60)

    let loop: EventLoop
    let worker: Worker
    let log: Logger
    let accountStore: AccountStore
    /// The name of this device when it joins.
    let name: String
    /// Weak because a waiting client can outlive the core, and joining must not continue without
    /// it.
    private(set) weak var peers: Peers?
    private var streams = 0
    /// An import whose client waits until a member has admitted this device.
    private struct Wait {
        let account: AccountID
        let timer: LoopTimer
        let completion: (Bool) -> Void
    }

    private var waiting: [Int: Wait] = [:]
    private var imports = 0

    init(
        loop: EventLoop, worker: Worker, log: Logger, accountStore: AccountStore, name: String, peers: Peers
    ) {
        self.loop = loop
        self.worker = worker
        self.log = log
        self.accountStore = accountStore
        self.name = name
        self.peers = peers
    }

    /// Throws if the maximum number of streams is open.
    func requireRoom() throws(CallError) {
        guard streams < Self.maxStreams else {
            throw .limitExceeded(
                "accountFiles", "\(Self.maxStreams) account files are being exported or imported already")
        }
    }

    /// Sends an exported file over the stream.
    func export(over stream: UpgradedStream) {
        streams += 1
        AccountExport(stream, desk: self).begin()
    }

    /// Receives a file from the stream, and joins its account.
    func receive(over stream: UpgradedStream) {
        streams += 1
        AccountImport(stream, desk: self).begin()
    }

    /// Handles the end of an export or import.
    func streamEnded() {
        streams -= 1
    }

    /// Calls `completion` once a member has admitted this device to the account. Its argument is
    /// false if this device is no longer in that account, or if the client's timeout expires first.
    func awaitJoined(_ account: AccountID, _ completion: @escaping (Bool) -> Void) {
        guard accountStore.state?.held == nil else { return completion(true) }
        imports += 1
        let id = imports
        let timer = loop.timer(after: Self.timeoutForMembers) { [unowned self] in end(id, isJoined: false) }
        waiting[id] = Wait(account: account, timer: timer, completion: completion)
    }

    /// Handles a change of the account.
    func accountChanged(_ snapshot: AccountSnapshot) {
        for (id, wait) in waiting where snapshot.accountID != wait.account || snapshot.held != nil {
            end(id, isJoined: snapshot.accountID == wait.account)
        }
    }

    private func end(_ id: Int, isJoined: Bool) {
        waiting.removeValue(forKey: id)?.completion(isJoined)
    }

    /// Returns a timer for the timeout of a client.
    func timer(_ handler: @escaping () -> Void) -> LoopTimer {
        loop.timer(after: Self.timeout, accuracy: .seconds(1), handler: handler)
    }
}
