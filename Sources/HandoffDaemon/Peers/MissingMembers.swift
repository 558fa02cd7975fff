import HandoffAccount
import HandoffCrypto
import HandoffModel
import HandoffProtocol

/// The members that have not been heard in the present epoch, and the secrets by which they and this device find each
/// other nevertheless. Plain values.
///
/// Two members that made an epoch each while they were apart have no key of the other's epoch; what they share in any
/// case is a secret of their two device keys. Who is missed gets a mark beside the beacon; who reads a foreign beacon
/// looks for a mark that is meant for him.
struct MissingMembers {
    /// What was found out about an instance.
    private struct Look {
        let marks: Marks
        /// Who made the mark for this device, if anyone did.
        let author: DeviceID?
    }

    /// Looks in a second: each costs a hash for every member. What is refused is looked at a little later.
    private static let looksPerSecond: UInt64 = 64

    private let own: SigningKey
    private var accountID: AccountID?
    private var epoch: UInt64?
    private var others: Set<DeviceID> = []
    private var heard: Set<DeviceID> = []
    private var pairs: [DeviceID: PairKeys] = [:]
    private var looks: [String: Look] = [:]
    private var budget = RateLimit(perSecond: looksPerSecond)

    /// - Parameter own: the key of this device.
    init(own: SigningKey) {
        self.own = own
    }

    /// Takes the account as it is now: with another epoch nobody has been heard.
    mutating func accountChanged(_ ring: KeyRing) {
        if ring.epochMark != epoch || ring.accountID != accountID { heard = [] }
        if ring.accountID != accountID { pairs = [:] }
        let others = ring.live.subtracting([ring.own])
        // Somebody who is a member now may have been looked at as a stranger.
        if others != self.others || ring.accountID != accountID { looks = [:] }
        epoch = ring.epochMark
        accountID = ring.accountID
        self.others = others
        heard.formIntersection(others)
        pairs = pairs.filter { others.contains($0.key) }
    }

    /// A member has said, by its signature or over its connection, that this is its label.
    mutating func heard(_ device: DeviceID, under label: Label?, _ ring: KeyRing) {
        guard let label, others.contains(device), !heard.contains(device), ring.isHeld(label) else { return }
        heard.insert(device)
    }

    /// Whom a new label gets marks for: those that are missed, at random if there are too many.
    mutating func marked(_ ring: KeyRing) -> [DeviceID: PairKeys] {
        let missed = others.subtracting(heard).shuffled().prefix(Marks.places)
        return missed.reduce(into: [:]) { $0[$1] = keys(for: $1, ring) }
    }

    /// The member that made the foreign record of an instance with a mark for this device, and the keys shared with it.
    ///
    /// Those that were heard in this epoch are not left out: it is they who may have made many epochs since.
    ///
    /// - Returns: nil in `author` when there is none; nil altogether when it has to be asked for again later.
    mutating func look(
        at instance: String, label: Label, marks: Marks, _ ring: KeyRing, at now: BootInstant
    ) -> (author: DeviceID?, keys: PairKeys?)? {
        if let look = looks[instance], look.marks == marks {
            return (look.author, look.author.flatMap { keys(for: $0, ring) })
        }
        guard budget.admit(at: now) else { return nil }
        let author = others.first { keys(for: $0, ring).map { marks.contains($0.mark(under: label)) } ?? false }
        looks[instance] = Look(marks: marks, author: author)
        return (author, author.flatMap { keys(for: $0, ring) })
    }

    /// The instance is gone, or there are too many.
    mutating func forget(_ instance: String) {
        looks[instance] = nil
    }

    /// Derived once for each member; nil for a key that allows no agreement.
    private mutating func keys(for device: DeviceID, _ ring: KeyRing) -> PairKeys? {
        if let known = pairs[device] { return known }
        guard let accountID, let key = ring.peerKey(device),
            let made = try? PairKeys(own: own, other: key, accountID: accountID)
        else { return nil }
        pairs[device] = made
        return made
    }
}
