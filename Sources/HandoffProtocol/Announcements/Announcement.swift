package import HandoffModel

/// The information and offers that a device announces, before they are signed and sealed. Beacons
/// and adverts have the same contents.
package struct Announcement: Sendable, Equatable {
    /// The announcing device, proved by the enclosing signature.
    package let deviceID: DeviceID

    /// The generation and change number. Beacons and adverts share one sequence.
    package let position: Position

    /// The UDP and TCP port on which the device listens, never 0.
    package let port: UInt16

    /// The kind of device, for the badge.
    package let kind: DeviceKind

    /// The reason why the device is leaving, which voids all its offers; nil if it is not leaving.
    package let leaveReason: LeaveReason?

    /// True if there are more offers than listed. The rest must be fetched over a connection.
    package let hasMore: Bool

    /// The first 8 bytes of the digest of the device's roster.
    package let rosterDigest: [UInt8]

    /// The number of the change since which the activities are unchanged, at most that of
    /// ``position``. A receiver that has the whole list as of that change or later has nothing to
    /// fetch.
    package let listSeq: UInt32

    /// The offered activities, most recent first. The encoded form contains as many as fit.
    package let activities: [ActivitySummary]

    /// True if the device keeps records of activities while their origin is offline.
    package var holdsKept = false

    /// True if the announcement and its activities have the reserved flag, which receivers ignore.
    package var isGreased = false

    /// The number of announced bytes of the roster digest.
    package static let digestCount = 8

    /// Returns nil if the digest does not have 8 bytes, the port is 0, the generation is out of
    /// range, or the activities are newer than the announcement.
    package init?(
        deviceID: DeviceID, position: Position, port: UInt16, kind: DeviceKind, leaveReason: LeaveReason? = nil,
        hasMore: Bool = false, rosterDigest: [UInt8], listSeq: UInt32, activities: [ActivitySummary]
    ) {
        guard rosterDigest.count == Self.digestCount, port != 0, listSeq <= position.seq,
            (1...Position.maxGeneration).contains(position.generation)
        else { return nil }
        self.deviceID = deviceID
        self.position = position
        self.port = port
        self.kind = kind
        self.leaveReason = leaveReason
        self.hasMore = hasMore
        self.rosterDigest = rosterDigest
        self.listSeq = listSeq
        self.activities = activities
    }
}

/// The reason why a device leaves, as it announced.
package enum LeaveReason: Sendable, Equatable {
    /// The daemon is stopping, or the device has left its account.
    case goodbye

    /// The machine is going to sleep. The device returns when it wakes.
    case sleep
}

/// The order of a device's announcements: first by generation, then by change.
package struct Position: Hashable, Comparable, Sendable {
    /// The generation of the device, greater at every start and never 0.
    package let generation: UInt64

    /// The number of the change in that generation, from 0.
    package let seq: UInt32

    /// The maximum generation. It must fit in the JSON integers of every implementation.
    package static let maxGeneration = UInt64(Int64.max)

    package init(generation: UInt64, seq: UInt32) {
        self.generation = generation
        self.seq = seq
    }

    /// Returns true if the left position is older.
    package static func < (left: Position, right: Position) -> Bool {
        (left.generation, left.seq) < (right.generation, right.seq)
    }
}

extension Announcement {
    /// The number of bytes before the activities: id, boot, seq, port, kind, flags, digest, list's
    /// seq, count.
    package static let headerCount = 32 + 8 + 4 + 2 + 1 + 1 + 8 + 4 + 1

    private static let goodbyeFlag: UInt8 = 1
    private static let moreFlag: UInt8 = 2
    /// Set only together with ``goodbyeFlag``, so that a receiver that does not know it handles the
    /// goodbye.
    private static let asleepFlag: UInt8 = 4
    private static let keptFlag: UInt8 = 8

    /// Encodes the announcement in exactly `capacity` bytes: as many activities as fit, in order,
    /// then zeros.
    ///
    /// If any is omitted, ``hasMore`` is set. `capacity` must be at least the size of the header.
    package func encode(capacity: Int) -> [UInt8] {
        precondition(capacity >= Self.headerCount, "the capacity is too small for the header")
        var packed: [[UInt8]] = []
        var room = capacity - Self.headerCount
        for activity in activities {
            let bytes = activity.announced(isGreased: isGreased)
            guard let bytes, bytes.count <= room, packed.count < 255 else { break }
            packed.append(bytes)
            room -= bytes.count
        }
        var flags: UInt8 = isGreased ? Grease.flag : 0
        switch leaveReason {
        case nil: break
        case .goodbye: flags |= Self.goodbyeFlag
        case .sleep: flags |= Self.goodbyeFlag | Self.asleepFlag
        }
        if hasMore || packed.count < activities.count || activities.contains(where: \.isListedOnly) {
            flags |= Self.moreFlag
        }
        if holdsKept { flags |= Self.keptFlag }
        var writer = ByteWriter(capacity: capacity)
        writer.raw(deviceID.bytes)
        writer.u64(position.generation)
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

    /// Decodes the output of ``encode(capacity:)``.
    ///
    /// An unknown kind of device becomes ``DeviceKind/other``, and unknown flags are ignored, so
    /// that later versions can add some. Anything else that the layout does not permit is an error,
    /// including nonzero padding.
    package init(decoding bytes: [UInt8]) throws(ByteError) {
        var reader = ByteReader(bytes)
        guard let deviceID = DeviceID(bytes: try reader.bytes(DeviceID.byteCount)) else { throw .malformed }
        let position = Position(generation: try reader.u64(), seq: try reader.u32())
        let port = try reader.u16()
        let kind = DeviceKind(rawValue: try reader.u8()) ?? .other
        let flags = try reader.u8()
        let digest = try reader.bytes(Self.digestCount)
        let listSeq = try reader.u32()
        var activities: [ActivitySummary] = []
        var ids: Set<ActivityID> = []
        for _ in 0..<(try reader.u8()) {
            let activity = try ActivitySummary(reading: &reader)
            guard ids.insert(activity.id).inserted else { throw .malformed }
            activities.append(activity)
        }
        try reader.finishPadding()
        var leaveReason: LeaveReason?
        if flags & Self.goodbyeFlag != 0 { leaveReason = flags & Self.asleepFlag != 0 ? .sleep : .goodbye }
        let decoded = Announcement(
            deviceID: deviceID, position: position, port: port, kind: kind,
            leaveReason: leaveReason, hasMore: flags & Self.moreFlag != 0, rosterDigest: digest,
            listSeq: listSeq, activities: activities)
        guard let decoded else { throw .malformed }
        self = decoded
        holdsKept = flags & Self.keptFlag != 0
    }
}
