import HandoffAccount
import HandoffModel
import HandoffProtocol
import HandoffState
import Timing

/// The members that have not been heard in the present epoch, and the marks by which they and this device find each other
/// nevertheless. Plain values.
///
/// A member in another epoch does not recognise our label, and we do not recognise its. Who is missed gets a mark beside the
/// beacon; who reads a foreign beacon looks for a mark that is meant for him. Who holds an open ticket gets one, too.
package struct MissingMembers {
    /// A member that has left a mark for this device, the keys that the mark was made with, and whether this device has to
    /// introduce itself with them.
    struct Author {
        let device: DeviceID
        let keys: PairwiseKeys
        let isIntroduction: Bool
    }

    /// What was found out about an instance.
    private struct Look {
        let marks: Marks
        let author: Author?
    }

    /// Looks in a second: each costs a hash for every member. What is refused is looked at a little later.
    private static let looksPerSecond: UInt64 = 64

    /// What is shared with each member.
    package private(set) var pairwise: PairwiseTable
    private var accountID: AccountID?
    private var epoch: Fingerprint?
    private var others: Set<DeviceID> = []
    private var tickets: Set<Fingerprint> = []
    private var heard: Set<DeviceID> = []
    private var looks: [String: Look] = [:]
    private var budget = RateLimit(perSecond: looksPerSecond)

    /// - Parameter pairwise: the secrets of this device.
    init(_ pairwise: PairwiseTable) {
        self.pairwise = pairwise
    }

    /// Takes the account as it is now: with another epoch nobody has been heard.
    mutating func accountChanged(_ snapshot: AccountSnapshot) {
        pairwise.accountChanged(snapshot)
        if snapshot.heldRecord != epoch || snapshot.accountID != accountID { heard = [] }
        // Somebody who is a member now may have been looked at as a stranger.
        if snapshot.others != others || snapshot.accountID != accountID { looks = [:] }
        epoch = snapshot.heldRecord
        accountID = snapshot.accountID
        others = snapshot.others
        tickets = Set(snapshot.openTickets.map(\.id))
        heard.formIntersection(others)
    }

    /// Whether a member was heard in the present epoch.
    func hasHeard(_ device: DeviceID) -> Bool { heard.contains(device) }

    /// A member has shown that it holds the key of the present epoch: by what it sealed, or over its connection.
    mutating func heard(_ device: DeviceID) {
        if others.contains(device) { heard.insert(device) }
    }

    /// Whom a beacon gets marks for: members that are missed and open tickets, at random if there are too many.
    var marked: [PairwiseKeys] {
        let wanted = others.subtracting(heard).map { Party.device($0) } + tickets.map { Party.ticket($0) }
        let chosen = wanted.count > Marks.places ? Array(wanted.shuffled().prefix(Marks.places)) : wanted
        return chosen.compactMap { pairwise.keys[$0] }
    }

    /// Whether a beacon may have no place for some open ticket, so that another one is to follow.
    var leavesTicketsOut: Bool {
        !tickets.isEmpty && others.count - heard.count + tickets.count > Marks.places
    }

    /// The member that made the foreign record of an instance with a mark for this device.
    ///
    /// Those that were heard in this epoch are not left out: it is they who may have made another epoch since.
    ///
    /// - Throws: `NotNow` when it has to be asked for again later.
    mutating func author(
        of instance: String, under label: Label, _ found: (marks: Marks, salt: [UInt8]), at now: MonotonicInstant
    ) throws(NotNow) -> Author? {
        if let look = looks[instance], look.marks == found.marks { return look.author }
        guard budget.admit(at: now) else { throw NotNow() }
        let author = author(of: found.marks, found.salt, under: label)
        looks[instance] = Look(marks: found.marks, author: author)
        return author
    }

    /// Too many records were looked at within a second.
    struct NotNow: Error {}

    private func author(of marks: Marks, _ salt: [UInt8], under label: Label) -> Author? {
        for device in others {
            for (keys, isIntroduction) in pairwise.keys(for: device)
            where marks.contains(keys.mark(under: label, salt: salt)) {
                return Author(device: device, keys: keys, isIntroduction: isIntroduction)
            }
        }
        return nil
    }

    /// The instances that bear a mark of a member for this device.
    func instances(of device: DeviceID) -> [String] {
        looks.filter { $0.value.author?.device == device }.map(\.key)
    }

    /// The instance is gone, or there are too many.
    mutating func forget(_ instance: String) {
        looks[instance] = nil
    }
}
