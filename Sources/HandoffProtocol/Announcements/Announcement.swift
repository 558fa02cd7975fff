package import HandoffModel

/// What a device says of itself and offers, before it is signed and sealed: the same in beacons and adverts.
package struct Announcement: Sendable, Equatable {
    /// The device that speaks; proved by the signature around this.
    package let deviceID: DeviceID

    /// Start and change number, one sequence for beacons and adverts.
    package let position: Position

    /// UDP and TCP port that the device listens on, never 0.
    package let port: UInt16

    /// What sort of machine it is, for the badge.
    package let kind: DeviceKind

    /// The device is leaving: all its offers are void.
    package let isGoodbye: Bool

    /// More is offered than is listed; the rest is fetched over a connection.
    package let hasMore: Bool

    /// First 8 bytes of the digest of the device's roster.
    package let rosterDigest: [UInt8]

    /// Number of the change since which the activities are the same, at most that of ``position``: who knows the whole list as
    /// of that change or later has nothing to fetch.
    package let listSeq: UInt32

    /// Activities on offer, most recent first; when encoded, as many as fit.
    package let activities: [OfferedActivity]

    /// Bytes of the roster digest that are announced.
    package static let digestCount = 8

    /// What a device says; nil when the digest does not have 8 bytes, the port is 0, the start number is out of range, or the
    /// activities are newer than the announcement.
    package init?(
        deviceID: DeviceID, position: Position, port: UInt16, kind: DeviceKind, isGoodbye: Bool = false,
        hasMore: Bool = false, rosterDigest: [UInt8], listSeq: UInt32, activities: [OfferedActivity]
    ) {
        guard rosterDigest.count == Self.digestCount, port != 0, listSeq <= position.seq,
            (1...Position.maximumBoot).contains(position.boot)
        else { return nil }
        self.deviceID = deviceID
        self.position = position
        self.port = port
        self.kind = kind
        self.isGoodbye = isGoodbye
        self.hasMore = hasMore
        self.rosterDigest = rosterDigest
        self.listSeq = listSeq
        self.activities = activities
    }
}
