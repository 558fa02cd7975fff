package import HandoffCrypto
internal import HandoffProtocol

/// The body of the frame that hands an account key over: number u64, then the key. Sent inside mutual TLS only, to a
/// device that is live in the sender's stored roster.
package enum EpochKeyBody {
    /// The body for a key that is held.
    package static func encode(_ held: HeldEpoch) -> [UInt8] {
        var number = ByteWriter(capacity: 8)
        number.u64(held.n)
        return SecretBytes.concatenated([SecretBytes(copying: number.bytes), held.accountKey]).exposedCopy()
    }

    /// The key in a body; nil when it has another length. Whether it is the right one is judged by its record.
    package static func decode(_ body: [UInt8]) -> SecretBytes? {
        guard body.count == 8 + EpochKeys.accountKeyCount else { return nil }
        var key = Array(body.suffix(EpochKeys.accountKeyCount))
        return SecretBytes(wiping: &key)
    }
}
