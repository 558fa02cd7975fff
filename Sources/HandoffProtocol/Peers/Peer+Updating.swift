import HandoffModel

extension Peer {
    /// A device as its first announcement describes it, without its activities.
    init(_ announcement: Announcement, label: Label, heard: BootInstant) {
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
    init(_ device: DeviceID, _ hello: Hello, at now: BootInstant) {
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
    mutating func update(_ announcement: Announcement, label: Label, at now: BootInstant) -> Bool {
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
        if instances.count >= Self.maximumInstances, !instances.contains(instance) {
            instances = instances.filter { $0 == label?.instanceName || $0 == previousLabel?.instanceName }
        }
        instances.insert(instance)
    }

    /// Offers of activities that were just heard.
    static func offers(
        _ activities: [OfferedActivity], received: BootInstant, expires: BootInstant
    ) -> [PeerOffer] {
        activities.map { PeerOffer(activity: $0, received: received, expires: expires) }
    }

    /// The same offers, valid until `end`.
    static func renewed(_ offers: [PeerOffer], until end: BootInstant) -> [PeerOffer] {
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
        count > Peer.maximumOffers ? Array(prefix(Peer.maximumOffers)) : self
    }

    /// True when both name the same activities in the same order, ages aside.
    func hasSameContent(as other: [PeerOffer]) -> Bool {
        count == other.count && zip(self, other).allSatisfy { $0.activity.hasSameContent(as: $1.activity) }
    }
}
