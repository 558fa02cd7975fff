import HandoffAccount
import HandoffModel
import HandoffState

/// Which members are known to have the account key in force: they were heard under it. Plain values; forgotten when the
/// daemon ends, since each is heard again within seconds.
struct KeyHolders {
    private var record: Fingerprint?
    private(set) var devices: Set<DeviceID> = []

    /// Takes the account as it is now: under another epoch nobody was heard yet.
    mutating func accountChanged(_ snapshot: AccountSnapshot) {
        let present = snapshot.isCurrent ? snapshot.heldRecord : nil
        if present != record {
            record = present
            devices = []
        }
        devices.formIntersection(snapshot.live)
    }

    /// Notes that a member was heard in the epoch in force.
    ///
    /// - Returns: whether that is news.
    mutating func heard(_ device: DeviceID, in snapshot: AccountSnapshot) -> Bool {
        guard record != nil, snapshot.heldRecord == record, snapshot.peerKey(device) != nil else { return false }
        return devices.insert(device).inserted
    }
}
