package import HandoffCrypto

/// The body of the frame that hands the account key of the epoch in force over: 32 bytes. Sent inside mutual TLS only, to a
/// device that is live in the sender's stored roster.
package enum EpochKeyBody {
    /// The body for a key that is held.
    package static func encode(_ held: HeldEpoch) -> [UInt8] {
        held.accountKey.exposedCopy()
    }

    /// The key in a body; nil when it has another length. Whether it is the right one is judged by its record.
    package static func decode(_ body: [UInt8]) -> SecretBytes? {
        guard body.count == EpochKeys.accountKeyCount else { return nil }
        var key = body
        return SecretBytes(wiping: &key)
    }
}
