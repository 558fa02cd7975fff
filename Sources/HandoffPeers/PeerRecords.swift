import HandoffAccount
package import HandoffModel
import HandoffProtocol
package import HandoffState

/// The state of a member, or of a device that is being introduced, while the daemon runs. It is not
/// stored.
package struct PeerRecord {
    /// True if the device is a member. For other devices, only the links and the introduction are
    /// kept.
    fileprivate(set) var isMember = false
    /// Its links, established or being established.
    var links: [PeerLink] = []
    /// True while statements that may make it a member are being merged.
    var isIntroducing = false
    /// The limits of its datagrams and of all its connections together.
    var limiter = MemberRateLimiter()
    /// The limits of the requests to it.
    var requests = RequestRateLimiter()
    /// True if its last hello announced that it keeps activities; nil before its first one.
    package internal(set) var keepsActivities: Bool?
    /// The time at which a message from it was last received.
    package fileprivate(set) var heard: MonotonicInstant?
    /// The reason why the last connection to it failed; nil if it did not fail.
    package var trouble: String?
    /// True if it has proved that it holds the account key in force.
    package fileprivate(set) var hasKey = false
    /// True if it has proved that it has the account key that is held here, in force or not, by
    /// sealed content or over its connection. Otherwise it is missing: it may be in another epoch.
    package var isInSameEpoch = false
    /// The adverts that it may still acknowledge.
    var sentAdverts = SentAdverts()
    /// The exchange that makes its roster equal to the local one.
    var exchange = RosterExchange()
    /// Its last detection by a mark, if it has not been found otherwise since.
    var detection: Detection?
    /// True if its beacons have the layout of an earlier version, which has been logged.
    var isOutdated = false
    /// The call to it while this device joins with a file; nil before it is called in this round.
    var joinCall: JoinCall?
    /// The request for the list of its offers; nil while there is none.
    var fetch: ListFetch?
}

/// The detection of a member by a mark beside a beacon: the member is in another epoch than this
/// device, or this device is joining.
struct Detection {
    let instance: String
    let route: LinkPool.Route
    /// The time at which the mark expires. After that, the member is not called because of it.
    let expires: MonotonicInstant
    /// True if the latest record still has the mark. A record without it may have had no room for
    /// it, so the member is still called.
    var isMarked = true
}

/// The call to a member while this device joins with a file.
enum JoinCall {
    /// The call waits for an answer, or for the account key.
    case pending
    /// The call has failed since the last pause.
    case failed
}

/// The records of all members of the account. Lives on the daemon's loop.
///
/// All devices that are not members share one rate limiter. They have a record only while they have
/// links or are being introduced. With an open ticket or the account key, any number of identities
/// can be created: these must not fill the memory, and the statements of each must not be read.
package final class PeerRecords {
    private var records: [DeviceID: PeerRecord] = [:]
    private var strangers = MemberRateLimiter()
    /// The epoch in force here; nil while this device lacks its key.
    private var epoch: Fingerprint?
    /// The epoch whose key this device holds; it may have been replaced.
    private var heldEpoch: Fingerprint?

    package init() {}

    /// The record of a device. The record of a device that is not a member has the shared limiter.
    package subscript(_ device: DeviceID) -> PeerRecord {
        get {
            guard let record = records[device], record.isMember else { return guest(records[device] ?? PeerRecord()) }
            return record
        }
        set {
            if records[device]?.isMember == true {
                records[device] = newValue
            } else {
                strangers = newValue.limiter
                records[device] = reduced(newValue)
            }
        }
    }

    /// Returns the record of a device that is not a member, with the shared limiter.
    private func guest(_ record: PeerRecord) -> PeerRecord {
        PeerRecord(links: record.links, isIntroducing: record.isIntroducing, limiter: strangers)
    }

    /// Returns the parts of a record that are kept for a device that is not a member; nil if there
    /// are none.
    private func reduced(_ record: PeerRecord) -> PeerRecord? {
        record.links.isEmpty && !record.isIntroducing
            ? nil : PeerRecord(links: record.links, isIntroducing: record.isIntroducing)
    }

    /// Applies a change of the account: drops the records of former members. In another epoch, no
    /// member has proved its key yet.
    package func accountChanged(_ snapshot: AccountSnapshot) {
        let present = snapshot.isCurrent ? snapshot.heldRecord : nil
        let live = snapshot.live
        for (device, record) in records where !live.contains(device) { records[device] = reduced(record) }
        for device in live where records[device]?.isMember != true {
            records[device, default: PeerRecord()].isMember = true
        }
        if present != epoch {
            epoch = present
            updateAll { $0.hasKey = false }
        }
        if snapshot.heldRecord != heldEpoch {
            heldEpoch = snapshot.heldRecord
            updateAll { $0.isInSameEpoch = false }
        }
    }

    /// The links of all devices.
    var links: [PeerLink] { records.values.flatMap(\.links) }

    /// Changes every record.
    func updateAll(_ change: (inout PeerRecord) -> Void) {
        for device in records.keys { change(&self[device]) }
    }

    /// Counts a signed advert of a device. Returns true if it is within the limit.
    package func admitAdvert(of device: DeviceID, at now: MonotonicInstant) -> Bool {
        self[device].limiter.admitAdvert(at: now) == .admit
    }

    /// Notes that a message from a device was received.
    package func heard(_ device: DeviceID, at now: MonotonicInstant) {
        self[device].heard = now
    }

    /// Notes that a member has proved that it holds the account key in force.
    ///
    /// - Returns: true if this is its first proof.
    package func noteKeyProof(_ device: DeviceID, in snapshot: AccountSnapshot) -> Bool {
        guard epoch != nil, snapshot.heldRecord == epoch, snapshot.peerKey(device) != nil else { return false }
        guard !self[device].hasKey else { return false }
        self[device].hasKey = true
        return true
    }

    /// The members that have the account key in force.
    package var holders: Set<DeviceID> { devices(where: \.hasKey) }

    /// The members whose records satisfy a condition.
    func devices(where isIncluded: (PeerRecord) -> Bool) -> Set<DeviceID> {
        records.reduce(into: []) { if isIncluded($1.value) { $0.insert($1.key) } }
    }
}
