import HandoffAccount
import HandoffControlServer
import HandoffCrypto
import HandoffLog
import HandoffModel
import HandoffPeers
import HandoffState
import LoopIO

/// Account files on their way in and out of the control socket, a few at a time. Lives on the daemon's loop; keys are
/// derived from passphrases on the worker.
final class AccountFileService {
    /// An account file is a roster of at most 8 MiB and the seed of a ticket.
    static let maxFile = 8 * 1024 * 1024 + 64 * 1024
    /// Streams at a time: each may hold a file, and 64 MiB while a key is derived (one at a time, as the worker is one).
    static let maxStreams = 4
    /// How long whoever imports a file is left to wait for a member.
    private static let timeoutForMembers = Duration.seconds(8)
    /// How long a client may take to send all, and again to take the file.
    static let timeout = Duration.seconds(60)

    let loop: EventLoop
    let worker: Worker
    let log: Logger
    let accountStore: AccountStore
    /// What this device is called when it joins.
    let name: String
    /// Weak because a waiting client can outlive the core, and joining must not continue without it.
    private(set) weak var peers: Peers?
    private var streams = 0
    /// An import whose client waits until a member has let this device in.
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

    /// Throws when no further stream may be opened now.
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

    /// Takes a file from the stream, and joins its account.
    func receive(over stream: UpgradedStream) {
        streams += 1
        AccountImport(stream, desk: self).begin()
    }

    /// An export or import is over.
    func streamEnded() {
        streams -= 1
    }

    /// Calls back once a member has let this device into the account; with false when this device is in it no more, or when it
    /// takes longer than a client waits.
    func awaitJoined(_ account: AccountID, _ completion: @escaping (Bool) -> Void) {
        guard accountStore.state?.held == nil else { return completion(true) }
        imports += 1
        let id = imports
        let timer = loop.timer(after: Self.timeoutForMembers) { [unowned self] in end(id, isJoined: false) }
        waiting[id] = Wait(account: account, timer: timer, completion: completion)
    }

    /// The account is another one now.
    func accountChanged(_ snapshot: AccountSnapshot) {
        for (id, wait) in waiting where snapshot.accountID != wait.account || snapshot.held != nil {
            end(id, isJoined: snapshot.accountID == wait.account)
        }
    }

    private func end(_ id: Int, isJoined: Bool) {
        waiting.removeValue(forKey: id)?.completion(isJoined)
    }

    /// A timer for the patience with a client.
    func timer(_ handler: @escaping () -> Void) -> LoopTimer {
        loop.timer(after: Self.timeout, accuracy: .seconds(1), handler: handler)
    }
}
