import HandoffLog
import HandoffModel
import HandoffState
import LoopIO
import Timing

/// Knows how long no other device of the account has answered, over all starts. Lives on the daemon's loop.
///
/// A device that was removed while it was off is a stranger to all the others, which tell it nothing: that nobody answers, day
/// after day, is all that it can see of its removal.
final class ContactWatch {
    /// How long nobody has to be silent for it to mean anything.
    static let notable: UInt64 = 24 * 3600
    /// How long the others have time to answer after a start, sleep, or a change of the network.
    static let patience = Duration.seconds(60)
    /// How often the moment is stored, in seconds.
    private static let precision: UInt64 = 3600

    private let worker: Worker
    private let loop: EventLoop
    private let log: Logger
    private let folder: StateFolder
    private let wallClock: any WallClock
    /// When this device began to listen, or to do so elsewhere, or again after sleep.
    private var begun: MonotonicInstant
    private var account: AccountID?
    /// When somebody was heard last, or the account began here; nil without one.
    private var last: UInt64?
    private var stored: UInt64?

    /// - Parameter contact: what was stored by an earlier start.
    init(
        loop: EventLoop, worker: Worker, log: Logger, folder: StateFolder, wallClock: any WallClock,
        account: AccountID?,
        contact: ContactFile?
    ) {
        self.loop = loop
        self.worker = worker
        self.log = log
        self.folder = folder
        self.wallClock = wallClock
        self.account = account
        begun = loop.now
        guard account != nil else { return }
        last = contact?.unixSeconds
        stored = last
        if last == nil { heard() }
    }

    /// A member was heard, as only a member can be.
    func heard() {
        let now = wallClock.unixSeconds
        last = now
        // A clock that was ahead is set back: the moment is stored again.
        if let stored, now >= stored, now - stored < Self.precision { return }
        stored = now
        worker.run({ [folder] in try folder.store(contact: ContactFile(unixSeconds: now)) }, on: loop) { [log] result in
            if case .failure(let error) = result {
                log.debug("Cannot store when a device was heard", ["error": "\(error)"])
            }
        }
    }

    /// The machine has woken, or is in another network: the others have time to answer.
    func listensAnew() {
        begun = loop.now
    }

    /// Takes the account as it is now: in another one the time begins anew.
    func accountChanged(_ account: AccountID?) {
        guard account != self.account else { return }
        self.account = account
        last = nil
        if account != nil { heard() }
    }

    /// Since when nobody has answered, in seconds since 1970; nil while that means nothing.
    var unansweredSince: UInt64? {
        guard let last, loop.now - begun >= Self.patience else { return nil }
        let now = wallClock.unixSeconds
        return now >= last && now - last >= Self.notable ? last : nil
    }
}
