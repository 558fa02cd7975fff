import HandoffAccount
import HandoffCrypto
import HandoffModel
import HandoffProtocol

/// What this device says of itself to the others, in one sequence for adverts and beacons. Plain values.
///
/// Every change of what either says raises the number; each is signed once, whatever the number of receivers.
struct Announcer {
    /// Who speaks, and from where.
    struct Speaker {
        let deviceID: DeviceID
        let key: SigningKey
        var kind: DeviceKind
        let port: UInt16
    }

    /// What is said.
    struct News: Equatable {
        var label: Label
        var rosterDigest: [UInt8]
        var epoch: UInt64
        var isGoodbye = false
        var activities: [OfferedActivity]

        /// Whether `other` says the same but for the activities.
        func differsOnlyInActivities(from other: News) -> Bool {
            label == other.label && rosterDigest == other.rosterDigest && epoch == other.epoch
                && isGoodbye == other.isGoodbye
        }

        /// Whether the others would learn anything; ages alone are no news.
        static func == (left: News, right: News) -> Bool {
            left.differsOnlyInActivities(from: right) && left.activities.count == right.activities.count
                && zip(left.activities, right.activities).allSatisfy { $0.hasSameContent(as: $1) }
        }
    }

    private var speaker: Speaker
    private(set) var position: Position
    private(set) var news: News?
    private(set) var advert: SignedAdvert?

    init(speaker: Speaker, boot: UInt64) {
        self.speaker = speaker
        position = Position(boot: boot, seq: 0)
    }

    /// Takes what is to be said now.
    ///
    /// - Parameter evenIfOld: says it under a new number even if the others know it, so that it does not expire.
    /// - Returns: whether it is news, and so has a new number and a new signature.
    mutating func say(_ news: News, evenIfOld: Bool = false) throws -> Bool {
        guard evenIfOld || news != self.news else { return false }
        if self.news != nil { position = Self.next(position) }
        self.news = news
        advert = try announcement(news.activities).map {
            try SignedAdvert($0, label: news.label, key: speaker.key)
        }
        return true
    }

    /// The text of the beacon for what was last said, signed and sealed anew.
    ///
    /// - Parameters:
    ///   - marks: those that were made for the label.
    ///   - listsActivities: false leaves the activities to adverts and connections.
    func beacon(keys: EpochKeys, marks: Marks, listsActivities: Bool) throws -> [[UInt8]]? {
        guard let news else { return nil }
        let shown = listsActivities ? news.activities : []
        return try announcement(shown, hasMore: shown.count < news.activities.count).map {
            let signed = try BeaconSeal.sign($0, label: news.label, key: speaker.key)
            return try BeaconSeal.seal(signed, label: news.label, beaconKey: keys.beacon, marks: marks)
        }
    }

    /// Signs the same news again, under the same number, with ages as of now: for a device that is greeted late.
    mutating func refreshAges(_ activities: [OfferedActivity]) throws {
        guard var news, !news.isGoodbye else { return }
        news.activities = activities
        guard news == self.news else { return }
        self.news = news
        advert = try announcement(activities).map { try SignedAdvert($0, label: news.label, key: speaker.key) }
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
        news = nil
        advert = nil
    }

    /// The machine has told what it is: to be said anew.
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
        return Announcement(
            deviceID: speaker.deviceID, position: position, port: speaker.port, kind: speaker.kind,
            isGoodbye: news.isGoodbye, hasMore: hasMore, rosterDigest: news.rosterDigest, epoch: news.epoch,
            activities: activities)
    }

    /// Four thousand million changes are more than a century of them; still the number never wraps.
    private static func next(_ position: Position) -> Position {
        position.seq == .max
            ? Position(boot: position.boot &+ 1, seq: 0) : Position(boot: position.boot, seq: position.seq + 1)
    }
}
