import HandoffModel

extension Announcement {
    /// Bytes before the activities: id, boot, seq, port, kind, flags, digest, list's seq, count.
    package static let headerCount = 32 + 8 + 4 + 2 + 1 + 1 + 8 + 4 + 1

    private static let goodbyeFlag: UInt8 = 1
    private static let moreFlag: UInt8 = 2

    /// The announcement in exactly `capacity` bytes: as many activities as fit, the first ones first, then zeros.
    ///
    /// Those that are left out set ``hasMore``. `capacity` must hold at least the header.
    package func encode(capacity: Int) -> [UInt8] {
        precondition(capacity >= Self.headerCount, "an announcement without room for its header")
        var packed: [[UInt8]] = []
        var room = capacity - Self.headerCount
        for activity in activities {
            guard let bytes = activity.announced(), bytes.count <= room, packed.count < 255 else { break }
            packed.append(bytes)
            room -= bytes.count
        }
        var flags: UInt8 = 0
        if isGoodbye { flags |= Self.goodbyeFlag }
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
        let decoded = Announcement(
            deviceID: deviceID, position: position, port: port, kind: kind,
            isGoodbye: flags & Self.goodbyeFlag != 0, hasMore: flags & Self.moreFlag != 0, rosterDigest: digest,
            listSeq: listSeq, activities: activities)
        guard let decoded else { throw .malformed }
        self = decoded
    }
}
