import HandoffAccount
import HandoffControl
import HandoffJSON
import HandoffModel
import HandoffPeers
import HandoffProtocol
import HandoffState
import HandoffTestSupport
import LoopIO

@testable import HandoffDaemon

extension TestDevice {
    /// The copies of the activities of all devices in the memory of this one: the payload of each by
    /// the id of its offer.
    var copies: [ActivityID: JSONObject] {
        let found = daemon?.assumeIsolated { daemon in
            daemon.core?.peers.kept.store.activities.map { ($0.summary.id, $0.payload) }
        }
        return Dictionary(uniqueKeysWithValues: (found ?? nil) ?? []).compactMapValues {
            try? JSON(parsing: $0, limits: JSONLimits(bytes: $0.count)).object
        }
    }

    /// The texts of the notes in `copies`, sorted.
    var keptTexts: [String] { copies.values.compactMap { $0["userInfo"]?.object?["text"]?.string }.sorted() }

    /// The ids of the copies that the daemon lists for other devices.
    func listedCopies(recent: Bool = false) throws -> [OfferedActivity] {
        let list = try call(.listActivities, recent ? ["recent": true] : [:])["activities"]?.array ?? []
        return try list.map { try OfferedActivity(json: $0.object ?? [:]) }.filter { $0.kept != nil }
    }

    /// True if an online device keeps activities, or may do so.
    var hasKeepers: Bool {
        (daemon?.assumeIsolated { $0.core?.peers.kept.hasKeepers } ?? nil) ?? false
    }

    /// True while a timer waits for the next copy.
    var awaitsCopy: Bool {
        (daemon?.assumeIsolated { $0.core?.keeping.isWaiting } ?? nil) ?? false
    }

    /// The newest list of this device.
    private var list: KeptList? {
        daemon?.assumeIsolated { daemon in daemon.core.flatMap { $0.peers.kept.store.list(of: $0.snapshot.own) } }
            ?? nil
    }

    /// Increases by one with each list and each copy while the clock is stopped, since no two have the
    /// same time.
    var lists: UInt64 { list?.stamp.time ?? 0 }

    /// The number of changes of the offers.
    var changes: UInt32 { (daemon?.assumeIsolated { $0.core?.peers.position.seq } ?? nil) ?? 0 }

    /// True if no offers have changed since the newest list.
    var isListCurrent: Bool { list?.stamp.position.seq == changes }

    /// Has the members keep all activities, as before sleep.
    ///
    /// - Returns: true once the daemon would let the machine sleep.
    func keepAll() -> Locked<Bool> {
        let isDone = Locked(false)
        daemon?.assumeIsolated { daemon in
            daemon.core?.keeping.keepAll(timeout: KeepingService.sleepTimeout) { isDone.withLock { $0 = true } }
        }
        return isDone
    }
}
