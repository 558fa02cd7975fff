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

    /// Why the device is leaving, if it is: all its offers are void then.
    package let farewell: Farewell?

    /// More is offered than is listed; the rest is fetched over a connection.
    package let hasMore: Bool

    /// First 8 bytes of the digest of the device's roster.
    package let rosterDigest: [UInt8]

    /// Number of the change since which the activities are the same, at most that of ``position``: who knows the whole list as
    /// of that change or later has nothing to fetch.
    package let listSeq: UInt32

    /// Activities on offer, most recent first; when encoded, as many as fit.
    package let activities: [OfferedActivity]

    /// True if the announcement and its activities have the reserved flag, which receivers ignore.
    package var isGreased = false

    /// Bytes of the roster digest that are announced.
    package static let digestCount = 8

    /// What a device says; nil when the digest does not have 8 bytes, the port is 0, the start number is out of range, or the
    /// activities are newer than the announcement.
    package init?(
        deviceID: DeviceID, position: Position, port: UInt16, kind: DeviceKind, farewell: Farewell? = nil,
        hasMore: Bool = false, rosterDigest: [UInt8], listSeq: UInt32, activities: [OfferedActivity]
    ) {
        guard rosterDigest.count == Self.digestCount, port != 0, listSeq <= position.seq,
            (1...Position.maxBoot).contains(position.boot)
        else { return nil }
        self.deviceID = deviceID
        self.position = position
        self.port = port
        self.kind = kind
        self.farewell = farewell
        self.hasMore = hasMore
        self.rosterDigest = rosterDigest
        self.listSeq = listSeq
        self.activities = activities
    }
}

/// Why a device is not there any more, by its own word.
package enum Farewell: Sendable, Equatable {
    /// It ends, or has left its account.
    case goodbye

    /// Its machine goes to sleep: it comes back when it wakes.
    case sleep
}

/// How far a device's announcements have come: a newer start of the device first, then a later change within it.
package struct Position: Hashable, Comparable, Sendable {
    /// Number of the device's start; greater at every start, never 0.
    package let boot: UInt64

    /// Number of the change since that start, from 0.
    package let seq: UInt32

    /// Greatest start number that is accepted: it must fit JSON integers of every implementation.
    package static let maxBoot = UInt64(Int64.max)

    /// A position as announced.
    package init(boot: UInt64, seq: UInt32) {
        self.boot = boot
        self.seq = seq
    }

    /// True when the left one is older.
    package static func < (left: Position, right: Position) -> Bool {
        (left.boot, left.seq) < (right.boot, right.seq)
    }
}

extension Announcement {
    /// Bytes before the activities: id, boot, seq, port, kind, flags, digest, list's seq, count.
    package static let headerCount = 32 + 8 + 4 + 2 + 1 + 1 + 8 + 4 + 1

    private static let goodbyeFlag: UInt8 = 1
    private static let moreFlag: UInt8 = 2
    /// Beside ``goodbyeFlag`` only: who does not know it takes the goodbye.
    private static let asleepFlag: UInt8 = 4

    /// The announcement in exactly `capacity` bytes: as many activities as fit, the first ones first, then zeros.
    ///
    /// Those that are left out set ``hasMore``. `capacity` must hold at least the header.
    package func encode(capacity: Int) -> [UInt8] {
        precondition(capacity >= Self.headerCount, "an announcement without room for its header")
        var packed: [[UInt8]] = []
        var room = capacity - Self.headerCount
        for activity in activities {
            let bytes = activity.announced(isGreased: isGreased)
            guard let bytes, bytes.count <= room, packed.count < 255 else { break }
            packed.append(bytes)
            room -= bytes.count
        }
        var flags: UInt8 = isGreased ? Grease.flag : 0
        switch farewell {
        case nil: break
        case .goodbye: flags |= Self.goodbyeFlag
        case .sleep: flags |= Self.goodbyeFlag | Self.asleepFlag
        }
        if hasMore || packed.count < activities.count { flags |= Self.moreFlag }
        var writer = ByteWriter(capacity: capacity)
        writer.raw(deviceID.bytes)
        writer.u64(position.boot)
        writer.u32(position.seq)
        writer.u16(port)
        writer.u8(kind.rawValue)
        writer.u8(flags)
        writer.raw(rosterDigest)
        writer.u32(listSeq)
        writer.u8(UInt8(packed.count))
        packed.forEach { writer.raw($0) }
        writer.pad(to: capacity)
        return writer.bytes
    }

    /// Reads what ``encode(capacity:)`` wrote.
    ///
    /// An unknown kind of device is ``DeviceKind/other`` and unknown flags are ignored, so that later versions can
    /// add some; anything else that the layout does not allow is an error, also padding that is not zero.
    package init(decoding bytes: [UInt8]) throws(ByteError) {
        var reader = ByteReader(bytes)
        guard let deviceID = DeviceID(bytes: try reader.bytes(DeviceID.byteCount)) else { throw .malformed }
        let position = Position(boot: try reader.u64(), seq: try reader.u32())
        let port = try reader.u16()
        let kind = DeviceKind(rawValue: try reader.u8()) ?? .other
        let flags = try reader.u8()
        let digest = try reader.bytes(Self.digestCount)
        let listSeq = try reader.u32()
        var activities: [OfferedActivity] = []
        var ids: Set<ActivityID> = []
        for _ in 0..<(try reader.u8()) {
            let activity = try OfferedActivity(reading: &reader)
            guard ids.insert(activity.id).inserted else { throw .malformed }
            activities.append(activity)
        }
        try reader.finishPadding()
        var farewell: Farewell?
        if flags & Self.goodbyeFlag != 0 { farewell = flags & Self.asleepFlag != 0 ? .sleep : .goodbye }
        let decoded = Announcement(
            deviceID: deviceID, position: position, port: port, kind: kind,
            farewell: farewell, hasMore: flags & Self.moreFlag != 0, rosterDigest: digest,
            listSeq: listSeq, activities: activities)
        guard let decoded else { throw .malformed }
        self = decoded
    }
}
