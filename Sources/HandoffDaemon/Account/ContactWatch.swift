import HandoffModel
import HandoffState
import LoopIO

/// Tracks the time since another device of the account last answered, across restarts. Lives on the
/// daemon's loop.
///
/// A device that was removed while it was offline is unknown to the others, which send it nothing.
/// Days without an answer are its only sign of the removal.
final class ContactWatch {
    /// The number of seconds without an answer from which it is reported.
    static let notable: UInt64 = 24 * 3600
    /// The time that the others have to answer after a start, sleep, or a network change.
    static let contactTimeout = Duration.seconds(60)
    /// The minimum number of seconds between two writes of the time.
    private static let precision: UInt64 = 3600

    private let worker: Worker
    private let loop: EventLoop
    private let log: Logger
    private let folder: StateFolder
    private let wallClock: any WallClock
    /// The time at which this device started to listen: at its start, in another network, or after
    /// sleep.
    private var begun: MonotonicInstant
    private var account: AccountID?
    /// The time of the last message, or of joining the account; nil without an account.
    private var last: UInt64?
    private var stored: UInt64?

    /// - Parameter contact: the time stored by an earlier start.
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

    /// Records a message that only a member can have sent.
    func heard() {
        let now = wallClock.unixSeconds
        last = now
        // If the stored time is in the future because the clock was set back, the time is stored
        // again.
        if let stored, now >= stored, now - stored < Self.precision { return }
        stored = now
        worker.run({ [folder] in try folder.store(contact: ContactFile(unixSeconds: now)) }, on: loop) { [log] result in
            if case .failure(let error) = result {
                log.debug("Cannot store the time of the last contact", ["error": "\(error)"])
            }
        }
    }

    /// Restarts the grace period after sleep or a network change.
    func listensAnew() {
        begun = loop.now
    }

    /// Applies a change of the account. In another account the time restarts.
    func accountChanged(_ account: AccountID?) {
        guard account != self.account else { return }
        self.account = account
        last = nil
        if account != nil { heard() }
    }

    /// The time since which no device has answered, in seconds since 1970; nil if that is not
    /// significant.
    var unansweredSince: UInt64? {
        guard let last, loop.now - begun >= Self.contactTimeout else { return nil }
        let now = wallClock.unixSeconds
        return now >= last && now - last >= Self.notable ? last : nil
    }
}
