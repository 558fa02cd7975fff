package import HandoffCrypto
internal import HandoffProtocol

/// Body of the frame that gives a member the account key: record 32, n u64, key 32.
///
/// Sent only what ``AccountState/keyToHandOver(to:)`` gives, inside mutual TLS, after the statements.
package struct KeyHandover: Sendable {
    /// Bytes of a body.
    package static let byteCount = 72

    /// The epoch record that commits to the key.
    package let record: Fingerprint
    /// Number of the epoch.
    package let n: UInt64
    /// The account key.
    package let accountKey: SecretBytes

    /// The handover of a key that this device holds.
    package init(_ held: HeldEpoch) {
        record = held.record
        n = held.n
        accountKey = held.accountKey
    }

    /// Reads a body; nil unless it has the layout. `body` is overwritten, as it holds the key.
    package init?(wiping body: inout [UInt8]) {
        guard body.count == Self.byteCount else { return nil }
        let secret = SecretBytes(wiping: &body)
        var reader = SecretReader(secret)
        guard let record = try? reader.fingerprint(), let n = try? reader.u64(),
            let key = try? reader.secret(EpochKeys.accountKeyCount)
        else { return nil }  // cannot happen, the length is right
        self.record = record
        self.n = n
        accountKey = key
    }

    /// The body; to be overwritten (`SecretBytes.wipe`) as soon as it is encrypted.
    package func encoded() -> [UInt8] {
        var writer = ByteWriter(capacity: 40)
        writer.raw(record.bytes)
        writer.u64(n)
        return SecretBytes.concatenated([SecretBytes(copying: writer.bytes), accountKey]).exposedCopy()
    }
}
