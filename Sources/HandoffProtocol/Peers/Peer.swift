package import HandoffModel

/// The known state of another device that is online.
package struct Peer: Sendable, Equatable {
    package let deviceID: DeviceID

    /// The label for which datagrams to the device are sealed; nil if it is known only from a
    /// connection without a label.
    package internal(set) var label: Label?

    /// The previous label, whose records may still be cached.
    package internal(set) var previousLabel: Label?

    /// The current generation of the device.
    package internal(set) var generation: UInt64

    /// The number of its latest received change; nil before the first announcement of this
    /// generation.
    package internal(set) var seq: UInt32?

    /// The number of the change since which its activities are unchanged, as it last announced; nil
    /// if it has not.
    var listSeq: UInt32?

    /// The number of the change as of which its whole list of activities is known; nil if it is
    /// not.
    var listedSeq: UInt32?

    /// The UDP and TCP port on which it listens.
    package internal(set) var port: UInt16

    package internal(set) var kind: DeviceKind

    /// True if it has announced that it keeps records of activities.
    package internal(set) var holdsKept = false

    /// The first 8 bytes of the digest of its roster.
    package internal(set) var rosterDigest: [UInt8]

    /// Its offers, most recent first.
    package internal(set) var offers: [Offer] = [] {
        didSet { firstExpiry = offers.lazy.map(\.expires).min() }
    }

    /// The time at which the first of its offers expires. Cached, because each datagram requires it
    /// for all devices.
    private(set) var firstExpiry: MonotonicInstant?

    package internal(set) var candidates = CandidateSet()

    /// The mDNS instances of the device that have appeared and not been removed.
    var instances: Set<String> = []

    /// The latest announcement of this device that it is known to have, acknowledged or delivered
    /// by connection.
    package internal(set) var acknowledged: Position?

    /// The number of open and accepted connections to it.
    var connectionCount = 0

    /// The time at which its current announcement was first received, or at which it last sent
    /// something over a connection.
    package internal(set) var renewed: MonotonicInstant

    /// True if its clock agrees with this device's, so that it accepts this device's records
    /// without an echo.
    var readsRecords = true

    /// The maximum number of mDNS instances to record per device. Labels change at most every 15
    /// minutes.
    static let maxInstances = 8

    /// The maximum number of offers to keep per device: more than a user would choose from, and few
    /// enough for one response to a client.
    static let maxOffers = 256

    /// The number of the change since which its offers are the same; nil if it is unknown.
    package var offersSeq: UInt32? { listSeq }

    /// False if it may offer more than is known.
    package var isComplete: Bool {
        guard let listedSeq, let listSeq else { return false }
        return listedSeq >= listSeq
    }

    /// True while mDNS shows the service under its current label.
    package var isAnnounced: Bool {
        guard let label else { return false }
        return instances.contains(label.instanceName)
    }
}

/// An activity on offer by another device.
package struct Offer: Sendable, Equatable {
    /// The device that offers it.
    package let device: DeviceID

    /// The activity as announced.
    package let activity: ActivitySummary

    /// The time at which it was received, from which its age increases.
    package let received: MonotonicInstant

    /// The time at which it expires without renewal.
    package internal(set) var expires: MonotonicInstant

    /// Returns the age of the activity at `now`, in whole seconds.
    package func age(at now: MonotonicInstant) -> UInt32 {
        UInt32(clamping: (.seconds(Int64(activity.age)) + now.duration(since: received)).components.seconds)
    }
}

extension Offer {
    /// Creates the offer of an activity that is kept here. It does not expire by itself.
    ///
    /// - Parameter saved: the time at which the state was saved. The age of the activity is the time
    ///   since then.
    package init(of device: DeviceID, keeping activity: ActivitySummary, saved: MonotonicInstant) {
        self.device = device
        self.activity = activity
        received = saved.advanced(by: .seconds(Int64(activity.age)))
        expires = MonotonicInstant(nanoseconds: .max)
    }
}

extension Peer {
    /// Creates a device from its first announcement, without its activities.
    init(_ announcement: Announcement, label: Label, received: MonotonicInstant) {
        deviceID = announcement.deviceID
        self.label = label
        generation = announcement.position.generation
        seq = announcement.position.seq
        port = announcement.port
        kind = announcement.kind
        holdsKept = announcement.holdsKept
        rosterDigest = announcement.rosterDigest
        listSeq = announcement.listSeq
        if !announcement.hasMore { listedSeq = announcement.position.seq }
        renewed = received
    }

    /// Creates a device from its hello. Its activities are unknown.
    init(_ device: DeviceID, _ hello: Hello, at now: MonotonicInstant) {
        deviceID = device
        label = hello.label
        generation = hello.generation
        port = hello.port
        kind = hello.kind
        rosterDigest = hello.rosterDigest
        listSeq = hello.listSeq
        renewed = now
    }

    /// Updates the device from a newer announcement. Returns true if its own properties changed.
    mutating func update(_ announcement: Announcement, label: Label, at now: MonotonicInstant) -> Bool {
        let before = self
        setLabel(label)
        setPort(announcement.port)
        kind = announcement.kind
        holdsKept = announcement.holdsKept
        rosterDigest = announcement.rosterDigest
        listSeq = announcement.listSeq
        return differs(from: before)
    }

    /// Updates the device from a hello of the same generation. Returns true if its own properties
    /// changed.
    mutating func update(_ hello: Hello) -> Bool {
        let before = self
        if let label = hello.label { setLabel(label) }
        setPort(hello.port)
        kind = hello.kind
        rosterDigest = hello.rosterDigest
        listSeq = hello.listSeq ?? hello.seq ?? listSeq
        return differs(from: before)
    }

    /// Records a service of the device. The set stays small, whatever arrives from the network.
    mutating func note(instance: String) {
        if instances.count >= Self.maxInstances, !instances.contains(instance) {
            instances = instances.filter { $0 == label?.instanceName || $0 == previousLabel?.instanceName }
        }
        instances.insert(instance)
    }

    /// Returns offers of the device for newly received activities.
    func offers(
        _ activities: [ActivitySummary], received: MonotonicInstant, expires: MonotonicInstant
    ) -> [Offer] {
        activities.map { Offer(device: deviceID, activity: $0, received: received, expires: expires) }
    }

    private mutating func setLabel(_ new: Label) {
        guard label != new else { return }
        previousLabel = label
        label = new
    }

    private mutating func setPort(_ new: UInt16) {
        guard port != new else { return }
        port = new
        candidates.move(to: new)
    }

    private func differs(from other: Peer) -> Bool {
        label != other.label || port != other.port || kind != other.kind || rosterDigest != other.rosterDigest
            || holdsKept != other.holdsKept
    }
}

extension [Offer] {
    /// Returns the same offers, valid until `end`.
    func renewed(until end: MonotonicInstant) -> [Offer] {
        map { offer in
            var renewed = offer
            renewed.expires = end
            return renewed
        }
    }

    /// Returns the offers of activities that are not among `others`.
    func excluding(_ others: [Offer]) -> [Offer] {
        let ids = Set(others.map(\.activity.id))
        return filter { !ids.contains($0.activity.id) }
    }

    /// The first offers, as many as are kept of one device. A device that lists new activities in
    /// every announcement, and always announces more, must not fill the memory.
    var bounded: [Offer] {
        count > Peer.maxOffers ? Array(prefix(Peer.maxOffers)) : self
    }

    /// Returns true if both contain the same activities in the same order, ignoring ages.
    func hasSameContent(as other: [Offer]) -> Bool {
        count == other.count && zip(self, other).allSatisfy { $0.activity.hasSameContent(as: $1.activity) }
    }
}
