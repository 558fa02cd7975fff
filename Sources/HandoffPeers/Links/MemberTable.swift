import HandoffAccount
package import HandoffModel
package import HandoffProtocol
package import HandoffState
package import Timing

/// What is known of a member while the daemon runs; all of it is learnt anew after a start.
package struct Member {
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
/// All who are no members share one rate limiter, and nothing else is kept of them: whoever holds an open ticket, or the account
/// key, can make as many identities as he likes, and must neither fill the memory with them nor have each of them's
/// statements read.
package final class MemberTable {
    private var members: [DeviceID: Member] = [:]
    private var strangers = MemberRateLimiter()
    /// The epoch in force here; nil while this device lacks its key.
    private var epoch: Fingerprint?

    /// The table of an account without members.
    package init() {}

    /// The record of a device; that of all strangers for one that is no member.
    package subscript(_ device: DeviceID) -> Member {
        get { members[device] ?? Member(limiter: strangers) }
        set {
            if members[device] != nil { members[device] = newValue } else { strangers = newValue.limiter }
        }
    }

    /// Takes the members as they are now, and forgets the others; under another epoch nobody was heard yet.
    package func accountChanged(_ snapshot: AccountSnapshot) {
        let present = snapshot.isCurrent ? snapshot.heldRecord : nil
        let live = snapshot.live
        members = members.filter { live.contains($0.key) }
        for device in live where members[device] == nil { members[device] = Member() }
        if present != epoch {
            epoch = present
            updateAll { $0.hasKey = false }
        }
    }

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
