import HandoffAccount
import HandoffControl
import HandoffCrypto
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

    /// The parts of items in the memory of this device, with the stamps of their copies.
    var keptParts: [(stamp: KeptStamp, part: KeptPart)] {
        let found = daemon?.assumeIsolated { daemon in
            daemon.core?.peers.kept.store.activities.compactMap { kept in kept.part.map { (kept.stamp, $0) } }
        }
        return (found ?? nil) ?? []
    }

    /// Returns why a file of this size would not be kept; nil if it would.
    func refusal(ofFile size: Int, for id: ActivityID) -> String? {
        daemon?.assumeIsolated { $0.core?.activityCopier.refusal(ofFile: size, for: id) } ?? nil
    }

    /// True if an online member has missed a record of this device.
    var hasMissed: Bool {
        (daemon?.assumeIsolated { $0.core?.peers.kept.hasMissed } ?? nil) ?? false
    }

    /// The first generation that the last list of this device does not withdraw.
    var firstGeneration: UInt64? {
        (daemon?.assumeIsolated { daemon in
            daemon.core.flatMap { $0.peers.kept.store.list(of: $0.accountStore.deviceID)?.firstGeneration }
        } ?? nil)
    }

    /// The times of the receipts that their origins have not confirmed.
    var unconfirmedTimes: [UInt64] {
        (daemon?.assumeIsolated { $0.core?.keptReceipts.unconfirmed.map(\.time) } ?? nil) ?? []
    }

    /// Locks the screen: nothing is advertised any more.
    func lockScreen() {
        daemon?.assumeIsolated { $0.core?.switches.take(sessionRestriction: "the screen is locked") }
    }

    /// Handles receipts of another device for these activities, as if they had arrived.
    func note(_ activities: [ActivityID], by key: SigningKey) throws {
        try daemon?.assumeIsolated { daemon in
            guard let core = daemon.core else { return }
            for (time, activity) in activities.enumerated() {
                core.keptReceipts.note(
                    try KeptReceipt(
                        device: DeviceID(key.publicKey), origin: core.accountStore.deviceID, activity: activity,
                        time: UInt64(time + 1), key: key))
            }
        }
    }

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
