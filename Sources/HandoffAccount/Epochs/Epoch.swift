package import HandoffCrypto
package import HandoffModel
internal import HandoffProtocol

/// An account key that a member generated, reduced to the fields that the membership rules read.
package struct EpochRecord: Hashable, Sendable {
    /// The statement id. Among records with the same number, the record with the greatest id wins.
    package let id: Fingerprint
    /// The epoch number.
    package let n: UInt32
    /// The device that generated the key.
    package let signer: DeviceID
    /// Hash of the ids of all devices removed at that time (``RosterView/removedDigest``).
    package let removedDigest: Fingerprint
    /// The commitment to the key (``EpochKeys/commitment(to:)``), 32 bytes.
    package let keyCommitment: [UInt8]
}

extension EpochRecord: Comparable {
    package static func < (left: EpochRecord, right: EpochRecord) -> Bool {
        (left.n, left.id) < (right.n, right.id)
    }
}

/// The account key that this device has. The current epoch may be a later one whose key has not
/// arrived yet.
package struct HeldEpoch: Sendable {
    /// The epoch record that commits to the key.
    package let record: Fingerprint
    /// The number of the epoch.
    package let n: UInt32
    /// The account key, 32 bytes. It leaves the device only inside TLS, to a member or to a device
    /// that is being paired.
    package let accountKey: SecretBytes
    /// When this device received or generated the key, in seconds since 1970 on its own clock. Used
    /// only for the monthly renewal.
    package let since: UInt64
    /// The keys derived from the account key.
    package let keys: EpochKeys

    /// The name of the epoch in hello: the first 8 bytes of the commitment to its key. The number
    /// does not identify an epoch, because two epochs can have the same number.
    package var name: [UInt8] {
        Array(EpochKeys.commitment(to: accountKey).prefix(8))
    }
}

/// The keys of one epoch, each for one purpose, all derived from the account key.
///
/// `HKDF-Expand(K, "handoff/1 " || purpose || accountID)`, 32 bytes (RFC 5869 section 2.3).
package struct EpochKeys: Sendable {
    /// Creates and recognises the labels of members.
    package let label: SecretBytes
    /// Seals beacons, which are sent in mDNS TXT records.
    package let beacon: SecretBytes
    /// Seals adverts, which are sent as datagrams.
    package let advert: SecretBytes
    /// Opens the gate for an introduction only: used by a member that the server does not know yet.
    package let gate: SecretBytes

    /// Bytes of an account key.
    package static let accountKeyCount = 32

    /// Derives all four keys from the account key of an epoch.
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

    /// The commitment in an epoch record: `SHA-256("handoff/1 commit" || K)`, 32 bytes.
    ///
    /// A receiver checks a key against it, whichever member sent the key. It reveals nothing about
    /// the key.
    package static func commitment(to accountKey: SecretBytes) -> [UInt8] {
        let domain = SecretBytes(copying: Array("handoff/1 commit".utf8))
        return SHA256.hash(SecretBytes.concatenated([domain, accountKey]))
    }
}

/// The body of the frame that carries the account key of the current epoch: 32 bytes. It is sent
/// only inside mutual TLS, to a device that is live in the sender's stored roster.
package enum EpochKeyBody {
    /// Encodes the key of `held`.
    package static func encode(_ held: HeldEpoch) -> [UInt8] {
        held.accountKey.exposedCopy()
    }

    /// The key in a body, or nil if its length is wrong. The caller checks the key against its
    /// epoch record.
    package static func decode(_ body: [UInt8]) -> SecretBytes? {
        guard body.count == EpochKeys.accountKeyCount else { return nil }
        var key = body
        return SecretBytes(wiping: &key)
    }
}
