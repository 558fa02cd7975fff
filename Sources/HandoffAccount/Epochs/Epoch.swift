package import HandoffCrypto
package import HandoffModel
internal import HandoffProtocol

/// A statement that a member made an account key, as far as the rules read it.
package struct EpochRecord: Hashable, Sendable {
    /// The statement; between records of one number the greater id holds.
    package let id: Fingerprint
    /// The number.
    package let n: UInt32
    /// The device that made the key.
    package let signer: DeviceID
    /// Hash of the ids of all devices that were removed when it was made, see ``RosterView/removedDigest``.
    package let removedDigest: Fingerprint
    /// What the key must hash to, see ``EpochKeys/commitment(to:)``; 32 bytes.
    package let keyCommitment: [UInt8]
}

extension EpochRecord: Comparable {
    package static func < (left: EpochRecord, right: EpochRecord) -> Bool {
        (left.n, left.id) < (right.n, right.id)
    }
}

/// The account key that this device has; its epoch may have been replaced by one whose key it has not been given yet.
package struct HeldEpoch: Sendable {
    /// The epoch record that commits to the key.
    package let record: Fingerprint
    /// The number of the epoch.
    package let n: UInt32
    /// The account key, 32 bytes; leaves the device only inside TLS, to a member or to a device that is being paired.
    package let accountKey: SecretBytes
    /// When this device got or made it, in seconds since 1970 on its own clock; only for the monthly renewal.
    package let since: UInt64
    /// The keys for its several purposes.
    package let keys: EpochKeys

    /// What names the epoch in hello: the first 8 bytes of the commitment to its key. Two epochs may have one number.
    package var name: [UInt8] {
        Array(EpochKeys.commitment(to: accountKey).prefix(8))
    }
}

/// The keys of one epoch, each for one purpose, all derived from the account key.
///
/// `HKDF-Expand(K, "handoff/1 " || purpose || accountID)`, 32 bytes (RFC 5869 section 2.3).
package struct EpochKeys: Sendable {
    /// Makes and recognises the labels of members.
    package let label: SecretBytes
    /// Seals beacons, the text of mDNS records.
    package let beacon: SecretBytes
    /// Seals adverts, the datagrams.
    package let advert: SecretBytes
    /// Opens the gate to an introduction alone: for a member that the other one has not heard of yet.
    package let gate: SecretBytes

    /// Bytes of an account key.
    package static let accountKeyCount = 32

    /// Derives all four from the account key of an epoch.
    package init(accountKey: SecretBytes, accountID: AccountID) throws(CryptoError) {
        func derive(_ purpose: String) throws(CryptoError) -> SecretBytes {
            var info = ByteWriter(capacity: 64)
            info.text("handoff/1 " + purpose)
            info.raw(accountID.bytes)
            return try HKDF.expand(accountKey, info: info.bytes)
        }
        label = try derive("label")
        beacon = try derive("beacon")
        advert = try derive("advert")
        gate = try derive("gate")
    }

    /// What an epoch record says of its key: `SHA-256("handoff/1 commit" || K)`, 32 bytes.
    ///
    /// It lets a receiver check the key that it is handed, whoever hands it, and tells nothing of the key.
    package static func commitment(to accountKey: SecretBytes) -> [UInt8] {
        let domain = SecretBytes(copying: Array("handoff/1 commit".utf8))
        return SHA256.hash(SecretBytes.concatenated([domain, accountKey]))
    }
}

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
