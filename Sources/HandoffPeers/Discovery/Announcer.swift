import HandoffAccount
import HandoffCrypto
import HandoffModel
import HandoffProtocol

/// What this device says of itself to the others, in one sequence for adverts and beacons. Plain values.
///
/// Every change of what either says raises the number; each is signed once for all who are told the same. Who was sent something is
/// told more under the same number.
struct Announcer {
    /// Who speaks, and from where.
    struct Speaker {
        let deviceID: DeviceID
        let key: SigningKey
        var kind: DeviceKind
        let port: UInt16

        init(deviceID: DeviceID, key: SigningKey, kind: DeviceKind, port: UInt16) {
            self.deviceID = deviceID
            self.key = key
            self.kind = kind
            self.port = port
        }
    }

    /// What is said.
    struct News: Equatable {
        var label: Label
        /// Goes along with whatever else is said, and is no news by itself: rosters are kept equal over connections.
        var rosterDigest: [UInt8]
        var farewell: Farewell?
        /// Also those that are sent to one device.
        var activities: [OfferedActivity]

        /// What all devices are told of.
        var forAll: [OfferedActivity] { activities.filter { $0.recipient == nil } }

        /// Whether the activities are the same; ages alone are no difference.
        func offersSame(as other: News) -> Bool {
            farewell == other.farewell && activities.count == other.activities.count
                && zip(activities, other.activities).allSatisfy { $0.hasSameContent(as: $1) }
        }

        /// Whether the others would learn anything.
        static func == (left: News, right: News) -> Bool {
            left.label == right.label && left.offersSame(as: right)
        }
    }

    /// What was new in what was said.
    enum Novelty {
        /// The activities, who is told of them, or that this device leaves.
        case offers
        /// Anything else, such as the label.
        case other
    }

    private var speaker: Speaker
    private let grease: Grease.Rate
    /// Generation and sequence number of the last announcement.
    private(set) var position: Position
    /// Number of the change since which the activities are the same.
    private(set) var listSeq: UInt32 = 0
    private(set) var news: News?
    private(set) var advert: SignedAdvert?

    init(speaker: Speaker, boot: UInt64, grease: Grease.Rate) {
        self.speaker = speaker
        self.grease = grease
        position = Position(boot: boot, seq: 0)
    }

    /// Takes what is to be said now.
    ///
    /// - Parameter renewed: says it under a new number even if the others know it: so that it does not expire, or since
    ///   others are told of it than before.
    /// - Returns: what is new in it; nil if nothing is, and then it has no new number and no new signature.
    mutating func say(_ news: News, renewed: Novelty? = nil) throws -> Novelty? {
        guard renewed != nil || news != self.news else { return nil }
        let offersSame = self.news.map(news.offersSame) ?? false
        let novelty: Novelty = offersSame && renewed != .offers ? .other : .offers
        if self.news != nil { position = Self.next(position) }
        listSeq = novelty == .offers ? position.seq : min(listSeq, position.seq)
        self.news = news
        try sign()
        return novelty
    }

    /// Takes another digest of the roster, which is told with what is said next and to who is met meanwhile.
    mutating func take(rosterDigest: [UInt8]) throws {
        guard news != nil, news?.rosterDigest != rosterDigest else { return }
        news?.rosterDigest = rosterDigest
        try sign()
    }

    private mutating func sign() throws {
        guard let news else { return }
        advert = try announcement(news.forAll).map {
            try SignedAdvert($0, label: news.label, key: speaker.key)
        }
    }

    /// The announcement as a device gets it, under the same number: with what was sent to it.
    func advert(for device: DeviceID) throws -> SignedAdvert? {
        guard let news, news.activities.contains(where: { $0.recipient == device }) else { return advert }
        return try announcement(news.activities.filter { $0.isMeant(for: device) }).map {
            try SignedAdvert($0, label: news.label, key: speaker.key)
        }
    }

    /// A reserved string beside a record's own, at random. Also for the record of a device that is joining, so that it looks like others.
    func reservedStrings() -> [[UInt8]] { grease.draw().map { [$0.string] } ?? [] }

    /// The inputs from which a record is sealed.
    struct Sealing {
        let keys: EpochKeys
        let salt: [UInt8]
        let period: Period
        /// This device's addresses, 4 or 16 bytes each.
        let addresses: [[UInt8]]
        let places: [Marks.Place]
    }

    /// The text of the beacon for what was last said, signed and sealed anew.
    ///
    /// - Parameter listsActivities: false leaves the activities to adverts and connections.
    func beacon(_ sealing: Sealing, listsActivities: Bool) throws -> [[UInt8]]? {
        guard let news else { return nil }
        let shown = listsActivities ? news.forAll : []
        let key = sealing.keys.beacon
        return try announcement(shown, hasMore: shown.count < news.activities.count).map {
            let signed = try BeaconSeal.sign(
                $0, period: sealing.period, addresses: sealing.addresses, label: news.label, beaconKey: key,
                key: speaker.key)
            return try BeaconSeal.seal(
                signed, label: news.label, beaconKey: key, marking: sealing.places, salt: sealing.salt)
                + reservedStrings()
        }
    }

    /// Signs the same news again, under the same number, with ages as of now: for a device that is greeted late.
    mutating func refreshAges(_ activities: [OfferedActivity]) throws {
        guard var news, news.farewell == nil else { return }
        news.activities = activities
        guard news == self.news else { return }
        self.news = news
        try sign()
    }

    /// The announcement as a device gets it that is told of no activities: under the same number, so that no other one
    /// counts for more with it.
    func emptyAdvert() throws -> SignedAdvert? {
        guard let news else { return nil }
        return try announcement([]).map { try SignedAdvert($0, label: news.label, key: speaker.key) }
    }

    /// Starts over under a greater boot number: another device has seen one that is greater than ours.
    mutating func restart(boot: UInt64) {
        position = Position(boot: boot, seq: 0)
        listSeq = 0
        news = nil
        advert = nil
    }

    /// The kind of this machine, as it is announced.
    var kind: DeviceKind { speaker.kind }

    /// The port that is announced.
    var port: UInt16 { speaker.port }

    /// Sets the kind of this machine, which is then to be announced again.
    mutating func setKind(_ kind: DeviceKind) {
        speaker.kind = kind
    }

    /// Falls silent: this device is no member of an account.
    mutating func clear() {
        news = nil
        advert = nil
        position = Self.next(position)
    }

    private func announcement(_ activities: [OfferedActivity], hasMore: Bool = false) -> Announcement? {
        guard let news else { return nil }
        var announcement = Announcement(
            deviceID: speaker.deviceID, position: position, port: speaker.port, kind: speaker.kind,
            farewell: news.farewell, hasMore: hasMore, rosterDigest: news.rosterDigest, listSeq: listSeq,
            activities: activities)
        announcement?.isGreased = grease.draw() != nil
        return announcement
    }

    /// Four thousand million changes are more than a century of them; still the number never wraps.
    private static func next(_ position: Position) -> Position {
        position.seq == .max
            ? Position(boot: position.boot &+ 1, seq: 0) : Position(boot: position.boot, seq: position.seq + 1)
    }
}
