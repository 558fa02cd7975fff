package import HandoffCrypto

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
