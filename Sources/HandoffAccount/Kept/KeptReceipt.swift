package import HandoffCrypto
package import HandoffModel
package import HandoffProtocol

/// The proof that a device has continued a kept activity. It is passed on until the origin has it.
///
/// The times of one device's receipts increase, even if its clock is set back: receivers refuse
/// receipts that are older than those that have expired.
package struct KeptReceipt: Sendable, Hashable {
    /// The device that continued the activity, which signs the receipt.
    package let device: DeviceID
    package let origin: DeviceID
    package let activity: ActivityID
    /// The time of the continuation, in seconds since 1970 by the device's clock.
    package let time: UInt64
    /// Ed25519 over the purpose and all fields before it.
    package let signature: [UInt8]

    private static let purpose = KeptPurpose("handoff/1 kept receipt")

    /// Creates and signs the receipt of this device.
    package init(
        device: DeviceID, origin: DeviceID, activity: ActivityID, time: UInt64, key: SigningKey
    ) throws(CryptoError) {
        self.device = device
        self.origin = origin
        self.activity = activity
        self.time = time
        signature = try key.sign(Self.purpose.input(Self.header(device, origin, activity, time)))
    }

    /// Decodes the receipt. The signature remains unchecked.
    package init(decoding bytes: [UInt8]) throws(ByteError) {
        var reader = ByteReader(bytes)
        device = try DeviceID(reading: &reader)
        origin = try DeviceID(reading: &reader)
        activity = ActivityID(checked: try reader.bytes(ActivityID.byteCount))
        time = try reader.u64()
        signature = try reader.bytes(PublicKey.signatureCount)
        try reader.finish()
        guard device != origin else { throw .malformed }
    }

    /// The bytes that devices exchange.
    package var encoded: [UInt8] { Self.header(device, origin, activity, time) + signature }

    /// Returns true if the device, whose key this is, signed the receipt.
    package func isGenuine(_ key: PublicKey) -> Bool {
        key.isValidSignature(signature, for: Self.purpose.input(Self.header(device, origin, activity, time)))
    }

    private static func header(
        _ device: DeviceID, _ origin: DeviceID, _ activity: ActivityID, _ time: UInt64
    ) -> [UInt8] {
        var writer = ByteWriter(capacity: 88)
        writer.raw(device.bytes)
        writer.raw(origin.bytes)
        writer.raw(activity.bytes)
        writer.u64(time)
        return writer.bytes
    }
}
