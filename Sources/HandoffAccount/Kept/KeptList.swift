package import HandoffCrypto
package import HandoffModel
package import HandoffProtocol

/// The list of an origin's kept activities. It withdraws each older copy of the same generation
/// that it does not contain.
///
/// One list replaces the withdrawals of any number of activities. After a list has expired, receivers
/// refuse all older records of its origin. An origin therefore keeps a list for at least as long as
/// each copy that it created before.
package struct KeptList: Sendable {
    package let origin: DeviceID
    /// The order among the origin's records.
    package let stamp: KeptStamp
    /// The first generation whose copies may be continued. Greater than 1 once the origin has
    /// withdrawn everything.
    package let firstGeneration: UInt64
    /// The time at which the list expires, in seconds since 1970 by the origin's clock.
    package let end: UInt64
    /// The offers that are kept.
    package let activities: [ActivityID]
    /// Ed25519 over the purpose, the header and the activities.
    package let signature: [UInt8]

    private static let purpose = KeptPurpose("handoff/1 kept list")

    /// Creates and signs the list of this device.
    ///
    /// - Returns: nil if there are too many activities, or the values are invalid.
    package init?(
        origin: DeviceID, stamp: KeptStamp, firstGeneration: UInt64, end: UInt64, activities: [ActivityID],
        key: SigningKey
    ) throws(CryptoError) {
        let header = Self.header(origin, stamp, firstGeneration, end, activities)
        let signature = try key.sign(Self.purpose.input(header))
        guard Self.isValid(stamp, firstGeneration, end, activities) else { return nil }
        self.init(origin, stamp, firstGeneration, end, activities, signature)
    }

    private init(
        _ origin: DeviceID, _ stamp: KeptStamp, _ firstGeneration: UInt64, _ end: UInt64, _ activities: [ActivityID],
        _ signature: [UInt8]
    ) {
        self.origin = origin
        self.stamp = stamp
        self.firstGeneration = firstGeneration
        self.end = end
        self.activities = activities
        self.signature = signature
    }

    /// Decodes the list. The signature remains unchecked.
    package init(decoding bytes: [UInt8]) throws(ByteError) {
        var reader = ByteReader(bytes)
        let origin = try DeviceID(reading: &reader)
        let position = Position(generation: try reader.u64(), seq: try reader.u32())
        let firstGeneration = try reader.u64()
        let stamp = KeptStamp(position: position, time: try reader.u64())
        let end = try reader.u64()
        var activities: [ActivityID] = []
        for _ in 0..<(try reader.u8()) {
            activities.append(ActivityID(checked: try reader.bytes(ActivityID.byteCount)))
        }
        let signature = try reader.bytes(PublicKey.signatureCount)
        try reader.finish()
        guard Self.isValid(stamp, firstGeneration, end, activities) else { throw .malformed }
        self.init(origin, stamp, firstGeneration, end, activities, signature)
    }

    /// The bytes that devices exchange.
    package var encoded: [UInt8] { Self.header(origin, stamp, firstGeneration, end, activities) + signature }

    /// Returns true if the origin, whose key this is, signed the list.
    package func isGenuine(_ key: PublicKey) -> Bool {
        let header = Self.header(origin, stamp, firstGeneration, end, activities)
        return key.isValidSignature(signature, for: Self.purpose.input(header))
    }

    /// Returns true if the list withdraws a copy with this id and stamp.
    package func withdraws(_ activity: ActivityID, _ stamp: KeptStamp) -> Bool {
        guard stamp.position.generation >= firstGeneration else { return true }
        guard stamp.position.generation == self.stamp.position.generation, stamp < self.stamp else { return false }
        return !activities.contains(activity)
    }

    private static func header(
        _ origin: DeviceID, _ stamp: KeptStamp, _ firstGeneration: UInt64, _ end: UInt64, _ activities: [ActivityID]
    ) -> [UInt8] {
        var writer = ByteWriter(capacity: 69 + activities.count * ActivityID.byteCount)
        writer.raw(origin.bytes)
        writer.u64(stamp.position.generation)
        writer.u32(stamp.position.seq)
        writer.u64(firstGeneration)
        writer.u64(stamp.time)
        writer.u64(end)
        writer.u8(UInt8(clamping: activities.count))
        for activity in activities { writer.raw(activity.bytes) }
        return writer.bytes
    }

    private static func isValid(
        _ stamp: KeptStamp, _ firstGeneration: UInt64, _ end: UInt64, _ activities: [ActivityID]
    ) -> Bool {
        stamp.position.isValid && (1...stamp.position.generation).contains(firstGeneration)
            && end > stamp.time && end - stamp.time <= KeptLimits.lifetime
            && activities.count <= KeptLimits.maxCopies && Set(activities).count == activities.count
    }
}
