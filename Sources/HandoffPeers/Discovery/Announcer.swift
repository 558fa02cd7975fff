import HandoffAccount
import HandoffCrypto
import HandoffModel
import HandoffProtocol

/// The state that this device announces, in one sequence for adverts and beacons. Plain values.
///
/// Every change of either content raises the number. Each announcement is signed once for all
/// devices that receive the same content. A device with individual offers receives more under the
/// same number.
struct Announcer {
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

    /// The announced content. Contents are equal if they are the same for the other devices.
    struct Content: Equatable {
        var label: Label
        /// Included in any announcement. A change alone causes none: rosters are kept equal over
        /// connections.
        var rosterDigest: [UInt8]
        var leaveReason: LeaveReason?
        /// True if there are records of kept activities.
        var holdsKept = false
        /// Includes activities that are offered to one device only.
        var offers: [LocalOffer]

        /// The activities that are offered to all devices.
        var forAll: [ActivitySummary] { offers.filter { $0.recipient == nil }.map(\.activity) }

        /// Returns true if the activities are the same, except for their ages.
        func offersSame(as other: Content) -> Bool {
            leaveReason == other.leaveReason && offers.count == other.offers.count
                && zip(offers, other.offers).allSatisfy { $0.hasSameContent(as: $1) }
        }

        static func == (left: Content, right: Content) -> Bool {
            left.label == right.label && left.holdsKept == right.holdsKept && left.offersSame(as: right)
        }
    }

    /// The kind of a change.
    enum Change {
        /// The activities or their receivers have changed, or this device leaves.
        case offers
        /// Anything else has changed, such as the label.
        case other
    }

    private var speaker: Speaker
    private let grease: Grease.Rate
    /// The generation and sequence number of the last announcement.
    private(set) var position: Position
    /// The sequence number of the change since which the activities are the same.
    private(set) var listSeq: UInt32 = 0
    private(set) var content: Content?
    private(set) var advert: SignedAdvert?

    init(speaker: Speaker, generation: UInt64, grease: Grease.Rate) {
        self.speaker = speaker
        self.grease = grease
        position = Position(generation: generation, seq: 0)
    }

    /// Updates the announced content.
    ///
    /// - Parameter renewed: announces under a new number even without a change, because the
    ///   announcement would expire or has other receivers.
    /// - Returns: the kind of the change; nil without a change. Then there is no new number or
    ///   signature.
    mutating func update(_ content: Content, renewed: Change? = nil) throws -> Change? {
        guard renewed != nil || content != self.content else { return nil }
        let offersSame = self.content.map(content.offersSame) ?? false
        let change: Change = offersSame && renewed != .offers ? .other : .offers
        if self.content != nil { position = Self.next(position) }
        listSeq = change == .offers ? position.seq : min(listSeq, position.seq)
        self.content = content
        try sign()
        return change
    }

    /// Updates the roster digest included in the next announcement and in any greeting sent before
    /// it.
    mutating func take(rosterDigest: [UInt8]) throws {
        guard content != nil, content?.rosterDigest != rosterDigest else { return }
        content?.rosterDigest = rosterDigest
        try sign()
    }

    private mutating func sign() throws {
        guard let content else { return }
        advert = try announcement(content.forAll).map {
            try SignedAdvert($0, label: content.label, key: speaker.key)
        }
    }

    /// Returns the announcement for one device, with the activities offered only to it, under the
    /// same number.
    func advert(for device: DeviceID) throws -> SignedAdvert? {
        guard let content, content.offers.contains(where: { $0.recipient == device }) else { return advert }
        return try announcement(content.offers.filter { $0.isAddressed(to: device) }.map(\.activity)).map {
            try SignedAdvert($0, label: content.label, key: speaker.key)
        }
    }

    /// Returns at random a reserved string to add to a record. A joining device adds it too, so
    /// that its record looks like others.
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

    /// Returns the text of the beacon for the last content, newly signed and sealed.
    ///
    /// - Parameter listsActivities: false leaves the activities to adverts and connections.
    func beacon(_ sealing: Sealing, listsActivities: Bool) throws -> [[UInt8]]? {
        guard let content else { return nil }
        let shown = listsActivities ? content.forAll : []
        let key = sealing.keys.beacon
        return try announcement(shown, hasMore: shown.count < content.offers.count).map {
            let signed = try BeaconSeal.sign(
                $0, period: sealing.period, addresses: sealing.addresses, label: content.label, beaconKey: key,
                key: speaker.key)
            return try BeaconSeal.seal(
                signed, label: content.label, beaconKey: key, marking: sealing.places, salt: sealing.salt)
                + reservedStrings()
        }
    }

    /// Signs the same content again under the same number with current ages, for a device that is
    /// greeted late.
    mutating func refreshAges(_ offers: [LocalOffer]) throws {
        guard var content, content.leaveReason == nil else { return }
        content.offers = offers
        guard content == self.content else { return }
        self.content = content
        try sign()
    }

    /// Returns the announcement for a device that receives no activities. It has the same number,
    /// so that no other one takes precedence with it.
    func emptyAdvert() throws -> SignedAdvert? {
        guard let content else { return nil }
        return try announcement([]).map { try SignedAdvert($0, label: content.label, key: speaker.key) }
    }

    /// Restarts in a greater generation, because another device has received a greater one than the
    /// local one.
    mutating func restart(generation: UInt64) {
        position = Position(generation: generation, seq: 0)
        listSeq = 0
        content = nil
        advert = nil
    }

    var kind: DeviceKind { speaker.kind }

    var port: UInt16 { speaker.port }

    /// Sets the kind of this machine, which must then be announced again.
    mutating func setKind(_ kind: DeviceKind) {
        speaker.kind = kind
    }

    /// Announces nothing more: this device is not a member of an account.
    mutating func clear() {
        content = nil
        advert = nil
        position = Self.next(position)
    }

    private func announcement(_ activities: [ActivitySummary], hasMore: Bool = false) -> Announcement? {
        guard let content else { return nil }
        var announcement = Announcement(
            deviceID: speaker.deviceID, position: position, port: speaker.port, kind: speaker.kind,
            leaveReason: content.leaveReason, hasMore: hasMore, rosterDigest: content.rosterDigest, listSeq: listSeq,
            activities: activities)
        announcement?.holdsKept = content.holdsKept
        announcement?.isGreased = grease.draw() != nil
        return announcement
    }

    /// Four thousand million changes take more than a century. Even so, the number never wraps.
    private static func next(_ position: Position) -> Position {
        position.seq == .max
            ? Position(generation: position.generation &+ 1, seq: 0)
            : Position(generation: position.generation, seq: position.seq + 1)
    }
}
