package import HandoffModel
package import Timing

/// All that is known of another device that is there.
package struct Peer: Sendable, Equatable {
    /// Who it is.
    package let deviceID: DeviceID

    /// The label that datagrams to it are sealed for; nil while only a connection made it known without one.
    package internal(set) var label: Label?

    /// The label before that, whose records may still be about.
    package internal(set) var previousLabel: Label?

    /// Number of its present start.
    package internal(set) var boot: UInt64

    /// Number of its latest change that was heard; nil before the first announcement of this start.
    package internal(set) var seq: UInt32?

    /// Number of the change since which its activities are the same, as it last said; nil while it has not said.
    var listSeq: UInt32?

    /// Number of the change as of which its whole list of activities is known; nil while it is not.
    var listedSeq: UInt32?

    /// UDP and TCP port that it listens on.
    package internal(set) var port: UInt16

    /// What sort of machine it is.
    package internal(set) var kind: DeviceKind

    /// First 8 bytes of the digest of its roster.
    package internal(set) var rosterDigest: [UInt8]

    /// What it offers, most recent first.
    package internal(set) var offers: [PeerOffer] = [] {
        didSet { firstExpiry = offers.lazy.map(\.expires).min() }
    }

    /// When the first of its offers is void without renewal: asked for at each datagram, of all devices.
    private(set) var firstExpiry: MonotonicInstant?

    /// Where it may be.
    package internal(set) var candidates = CandidateSet()

    /// mDNS instances that were seen of it and have not gone.
    package internal(set) var instances: Set<String> = []

    /// The latest announcement of this device that it is known to have: it acknowledged it, or was given it by connection.
    package internal(set) var acknowledged: Position?

    /// Open and accepted connections to it.
    package internal(set) var connectionCount = 0

    /// When its present announcement was first heard, or it last spoke over a connection.
    package internal(set) var renewed: MonotonicInstant

    /// True if its clock agrees with this device's, so that it takes this device's records without an echo.
    var readsRecords = true

    /// Most mDNS instances that are remembered of one device; labels change every 15 minutes at the earliest.
    static let maxInstances = 8

    /// Most offers that are kept of one device: more than anyone picks from, and few enough for one answer to a client.
    static let maxOffers = 256

    /// False while it may offer more than is known.
    package var isComplete: Bool {
        guard let listedSeq, let listSeq else { return false }
        return listedSeq >= listSeq
    }

    /// True while mDNS shows the service under its present label.
    package var isAnnounced: Bool {
        guard let label else { return false }
        return instances.contains(label.instanceName)
    }
}

/// An activity that a device offers, and until when that may be believed.
package struct PeerOffer: Sendable, Equatable {
    /// What the device said.
    package let activity: OfferedActivity

    /// When it was heard; the activity's age grows from here.
    package let received: MonotonicInstant

    /// When it is void without renewal.
    package let expires: MonotonicInstant

    /// Seconds since the activity became what the user does, as of `now`.
    package func age(at now: MonotonicInstant) -> Duration {
        .seconds(Int64(activity.age)) + now.duration(since: received)
    }
}

extension Peer {
    /// A device as its first announcement describes it, without its activities.
    init(_ announcement: Announcement, label: Label, heard: MonotonicInstant) {
        deviceID = announcement.deviceID
        self.label = label
        boot = announcement.position.boot
        seq = announcement.position.seq
        port = announcement.port
        kind = announcement.kind
        rosterDigest = announcement.rosterDigest
        listSeq = announcement.listSeq
        if !announcement.hasMore { listedSeq = announcement.position.seq }
        renewed = heard
    }

    /// A device as its hello describes it; nothing is known of its activities.
    init(_ device: DeviceID, _ hello: Hello, at now: MonotonicInstant) {
        deviceID = device
        label = hello.label
        boot = hello.boot
        port = hello.port
        kind = hello.kind
        rosterDigest = hello.rosterDigest
        listSeq = hello.listSeq
        renewed = now
    }

    /// Takes over what a newer announcement says of the device itself; true when that differs.
    mutating func update(_ announcement: Announcement, label: Label, at now: MonotonicInstant) -> Bool {
        let before = self
        take(label: label)
        take(port: announcement.port)
        kind = announcement.kind
        rosterDigest = announcement.rosterDigest
        listSeq = announcement.listSeq
        return differs(from: before)
    }

    /// Takes over what a hello of the same start says of the device itself; true when that differs.
    mutating func update(_ hello: Hello) -> Bool {
        let before = self
        if let label = hello.label { take(label: label) }
        take(port: hello.port)
        kind = hello.kind
        rosterDigest = hello.rosterDigest
        listSeq = hello.listSeq ?? hello.seq ?? listSeq
        return differs(from: before)
    }

    /// Notes a service of the device; the set stays small, whatever the network says.
    mutating func note(instance: String) {
        if instances.count >= Self.maxInstances, !instances.contains(instance) {
            instances = instances.filter { $0 == label?.instanceName || $0 == previousLabel?.instanceName }
        }
        instances.insert(instance)
    }

    /// Offers of activities that were just heard.
    static func offers(
        _ activities: [OfferedActivity], received: MonotonicInstant, expires: MonotonicInstant
    ) -> [PeerOffer] {
        activities.map { PeerOffer(activity: $0, received: received, expires: expires) }
    }

    /// The same offers, valid until `end`.
    static func renewed(_ offers: [PeerOffer], until end: MonotonicInstant) -> [PeerOffer] {
        offers.map { PeerOffer(activity: $0.activity, received: $0.received, expires: end) }
    }

    private mutating func take(label new: Label) {
        guard label != new else { return }
        previousLabel = label
        label = new
    }

    private mutating func take(port new: UInt16) {
        guard port != new else { return }
        port = new
        candidates.move(to: new)
    }

    private func differs(from other: Peer) -> Bool {
        label != other.label || port != other.port || kind != other.kind || rosterDigest != other.rosterDigest
    }
}

extension [PeerOffer] {
    /// The offers of activities that are not among `others`.
    func excluding(_ others: [PeerOffer]) -> [PeerOffer] {
        let ids = Set(others.map(\.activity.id))
        return filter { !ids.contains($0.activity.id) }
    }

    /// As many as are kept of one device, the first ones: one that lists new activities in every announcement, and each
    /// time says that there are more, must not fill the memory.
    var bounded: [PeerOffer] {
        count > Peer.maxOffers ? Array(prefix(Peer.maxOffers)) : self
    }

    /// True when both name the same activities in the same order, ages aside.
    func hasSameContent(as other: [PeerOffer]) -> Bool {
        count == other.count && zip(self, other).allSatisfy { $0.activity.hasSameContent(as: $1.activity) }
    }
}
