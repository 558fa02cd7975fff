package import HandoffCrypto
package import HandoffModel
internal import HandoffProtocol

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
