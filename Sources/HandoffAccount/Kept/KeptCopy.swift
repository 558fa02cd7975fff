package import HandoffCrypto
package import HandoffModel
package import HandoffProtocol

/// The copy of an activity that other devices keep while its origin is offline
/// (docs/protocol.md#kept-activities).
///
/// The origin signs it. A device that keeps it can neither change it nor create one.
package struct KeptCopy: Sendable {
    package let origin: DeviceID
    /// The order among the origin's records.
    package let stamp: KeptStamp
    /// The id of the offer.
    package let activity: ActivityID
    /// The time at which the copy expires, in seconds since 1970 by the origin's clock.
    package let end: UInt64
    /// The JSON object that `continue` would have returned, as the origin encoded it.
    package let payload: [UInt8]
    /// Ed25519 over the purpose, the header and the payload. Unchecked until `isGenuine` is called.
    package let signature: [UInt8]

    private static let purpose = KeptPurpose("handoff/1 kept")
    /// The number of bytes before the signature.
    private static let headerCount = 76

    /// Creates and signs the copy of a local activity.
    ///
    /// - Returns: nil if the payload is too large, or the times are invalid.
    package init?(
        origin: DeviceID, stamp: KeptStamp, activity: ActivityID, end: UInt64, payload: [UInt8], key: SigningKey
    ) throws(CryptoError) {
        let header = Self.header(origin, stamp, activity, end)
        let signature = try key.sign(Self.purpose.input(header, payload))
        guard Self.isValid(stamp.time, end, payload.count) else { return nil }
        self.init(origin, stamp, activity, end, payload, signature)
    }

    private init(
        _ origin: DeviceID, _ stamp: KeptStamp, _ activity: ActivityID, _ end: UInt64, _ payload: [UInt8],
        _ signature: [UInt8]
    ) {
        self.origin = origin
        self.stamp = stamp
        self.activity = activity
        self.end = end
        self.payload = payload
        self.signature = signature
    }

    /// Decodes the copy. The signature remains unchecked.
    package init(decoding bytes: [UInt8]) throws(ByteError) {
        var reader = ByteReader(bytes)
        let origin = try DeviceID(reading: &reader)
        let position = Position(generation: try reader.u64(), seq: try reader.u32())
        let activity = ActivityID(checked: try reader.bytes(ActivityID.byteCount))
        let (time, end) = (try reader.u64(), try reader.u64())
        let signature = try reader.bytes(PublicKey.signatureCount)
        let payload = reader.rest()
        guard Self.isValid(time, end, payload.count), position.isValid else { throw .malformed }
        self.init(origin, KeptStamp(position: position, time: time), activity, end, payload, signature)
    }

    /// The bytes that devices exchange.
    package var encoded: [UInt8] { Self.header(origin, stamp, activity, end) + signature + payload }

    /// Returns the same copy with another payload, which may be empty: the store keeps the payload in
    /// locked memory, apart from the rest.
    package func with(payload: [UInt8]) -> KeptCopy { KeptCopy(origin, stamp, activity, end, payload, signature) }

    /// Returns true if the origin, whose key this is, signed the copy.
    package func isGenuine(_ key: PublicKey) -> Bool {
        key.isValidSignature(signature, for: Self.purpose.input(Self.header(origin, stamp, activity, end), payload))
    }

    private static func header(
        _ origin: DeviceID, _ stamp: KeptStamp, _ activity: ActivityID, _ end: UInt64
    ) -> [UInt8] {
        var writer = ByteWriter(capacity: headerCount)
        writer.raw(origin.bytes)
        writer.u64(stamp.position.generation)
        writer.u32(stamp.position.seq)
        writer.raw(activity.bytes)
        writer.u64(stamp.time)
        writer.u64(end)
        return writer.bytes
    }

    private static func isValid(_ time: UInt64, _ end: UInt64, _ count: Int) -> Bool {
        end > time && end - time <= KeptLimits.lifetime && (1...KeptLimits.maxPayload).contains(count)
    }
}

/// The first part of a signed input, by which a signature is valid for one purpose only.
struct KeptPurpose {
    private let bytes: [UInt8]

    init(_ text: String) {
        bytes = Array(text.utf8) + [0]
    }

    func input(_ parts: [UInt8]...) -> [UInt8] {
        parts.reduce(bytes, +)
    }
}

extension DeviceID {
    /// Reads an id of 32 bytes.
    init(reading reader: inout ByteReader) throws(ByteError) {
        self.init(checked: try reader.bytes(Self.byteCount))
    }
}

extension Position {
    /// True if the generation is in the range of those of announcements.
    var isValid: Bool { (1...Self.maxGeneration).contains(generation) }
}
