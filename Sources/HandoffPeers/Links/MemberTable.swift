import HandoffAccount
package import HandoffModel
package import HandoffProtocol
package import HandoffState
package import Timing

/// The state of a member, or of a device that is being introduced, while the daemon runs. Nothing of it is stored.
package struct Member {
    /// Whether the device is a member. Nothing but its links and its introduction is kept of another one.
    fileprivate(set) var isMember = false
    /// Its links, established or being made.
    var links: [PeerLink] = []
    /// Whether statements are being merged that may make it a member.
    var isIntroducing = false
    /// What it may still do here, over its datagrams and all its connections together.
    package var limiter = MemberRateLimiter()
    /// What it may still be asked.
    package var requests = RequestRateLimiter()
    /// When it was heard last.
    package fileprivate(set) var heard: MonotonicInstant?
    /// What went wrong with the last connection to it; nil when nothing did.
    package var trouble: String?
    /// It was heard under the account key in force.
    package fileprivate(set) var hasKey = false
    /// The exchange that makes its roster and ours equal.
    var exchange = RosterExchange()
    /// Where it was detected by a mark, if it was not found otherwise since.
    var sighting: Sighting?
    /// Whether its beacons have the layout of a former version, which was logged.
    var isOutdated = false
    /// The call to it while this device joins by a file; nil before it is called in this round.
    var joinCall: JoinCall?
    /// The request for the list of its offers; nil while there is none.
    var fetch: ListFetch?
}

/// A mark of a member beside a beacon: the member is in another epoch than this device, or this device is joining.
struct Sighting {
    let instance: String
    let way: LinkPool.Way
    /// When the mark expires. The member is not called because of it afterwards.
    let expires: MonotonicInstant
    /// Whether the latest record still has the mark. A record without it may have had no room for it, so the member is still called.
    var isMarked = true
}

/// The call to a member while this device joins by a file.
enum JoinCall {
    /// The call waits for an answer, or for the account key.
    case pending
    /// The call has failed since the last pause.
    case failed
}

/// The members of the account, one record for each. Lives on the daemon's loop.
///
/// All devices that are not members share one rate limiter. They have a record only while they have links or are being introduced:
/// with an open ticket or the account key, any number of identities can be created, which must neither fill the memory nor have
/// the statements of each read.
package final class MemberTable {
    private var members: [DeviceID: Member] = [:]
    private var strangers = MemberRateLimiter()
    /// The epoch in force here; nil while this device lacks its key.
    private var epoch: Fingerprint?

    /// The table of an account without members.
    package init() {}

    /// The record of a device. That of a device that is not a member has the shared limiter.
    package subscript(_ device: DeviceID) -> Member {
        get {
            guard let record = members[device], record.isMember else { return guest(members[device] ?? Member()) }
            return record
        }
        set {
            if members[device]?.isMember == true {
                members[device] = newValue
            } else {
                strangers = newValue.limiter
                members[device] = reduced(newValue)
            }
        }
    }

    /// The record of a device that is not a member, with the limiter that all of them share.
    private func guest(_ record: Member) -> Member {
        Member(links: record.links, isIntroducing: record.isIntroducing, limiter: strangers)
    }

    /// The parts of a record that are kept of a device that is not a member; nil if there are none.
    private func reduced(_ record: Member) -> Member? {
        record.links.isEmpty && !record.isIntroducing
            ? nil : Member(links: record.links, isIntroducing: record.isIntroducing)
    }

    /// Takes the members as they are now, and forgets the others; under another epoch nobody was heard yet.
    package func accountChanged(_ snapshot: AccountSnapshot) {
        let present = snapshot.isCurrent ? snapshot.heldRecord : nil
        let live = snapshot.live
        for (device, record) in members where !live.contains(device) { members[device] = reduced(record) }
        for device in live where members[device]?.isMember != true {
            members[device, default: Member()].isMember = true
        }
        if present != epoch {
            epoch = present
            updateAll { $0.hasKey = false }
        }
    }

    /// The links of all devices.
    var links: [PeerLink] { members.values.flatMap(\.links) }

    /// Changes every record.
    func updateAll(_ change: (inout Member) -> Void) {
        for device in members.keys { change(&self[device]) }
    }

    /// Whether one more signed advert of a device is taken; counts it.
    package func admitAdvert(of device: DeviceID, at now: MonotonicInstant) -> Bool {
        self[device].limiter.admitAdvert(at: now) == .admit
    }

    /// Notes that a device was heard.
    package func heard(_ device: DeviceID, at now: MonotonicInstant) {
        self[device].heard = now
    }

    /// Notes that a member was heard under the account key in force.
    ///
    /// - Returns: whether that is news.
    package func heardUnderKey(_ device: DeviceID, in snapshot: AccountSnapshot) -> Bool {
        guard epoch != nil, snapshot.heldRecord == epoch, snapshot.peerKey(device) != nil else { return false }
        guard !self[device].hasKey else { return false }
        self[device].hasKey = true
        return true
    }

    /// The members that have the account key in force.
    package var holders: Set<DeviceID> { devices(where: \.hasKey) }

    /// The members whose records satisfy a condition.
    func devices(where isIncluded: (Member) -> Bool) -> Set<DeviceID> {
        members.reduce(into: []) { if isIncluded($1.value) { $0.insert($1.key) } }
    }
}
