import HandoffAccount
import HandoffCrypto
import HandoffLog
import LoopIO

/// Account files on their way in and out of the control socket, a few at a time. Lives on the daemon's loop; keys are
/// derived from passphrases on the worker.
final class AccountFileDesk {
    /// An account file is a roster of at most 8 MiB and a few keys.
    static let longestFile = 8 * 1024 * 1024 + 64 * 1024
    /// Streams at a time: each may hold a file, and 64 MiB while a key is derived (one at a time, as the worker is one).
    static let maximumStreams = 4
    /// How long a client may take to send all, and again to take the file.
    static let patience = Duration.seconds(60)

    let loop: EventLoop
    let worker: Worker
    let log: Logger
    let keeper: AccountKeeper
    /// What this device is called when it joins.
    let name: String
    private var streams = 0

    init(loop: EventLoop, worker: Worker, log: Logger, keeper: AccountKeeper, name: String) {
        self.loop = loop
        self.worker = worker
        self.log = log
        self.keeper = keeper
        self.name = name
    }

    /// Throws when no further stream may be opened now.
    func requireRoom() throws(CallError) {
        guard streams < Self.maximumStreams else {
            throw .limitExceeded(
                "accountFiles", "\(Self.maximumStreams) account files are being exported or imported already")
        }
    }

    /// Sends an exported file over the stream.
    func export(over stream: UpgradedStream) {
        streams += 1
        AccountExport(stream, desk: self) { [self] in streams -= 1 }.begin()
    }

    /// Takes a file from the stream, and joins its account.
    func receive(over stream: UpgradedStream) {
        streams += 1
        AccountImport(stream, desk: self) { [self] in streams -= 1 }.begin()
    }

    /// A timer for the patience with a client. Without memory for one there is no limit of time.
    func timer(_ handler: @escaping () -> Void) -> LoopTimer? {
        try? loop.timer(after: Self.patience, accuracy: .seconds(1), handler: handler)
    }
}
