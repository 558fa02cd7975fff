package import HandoffModel

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
