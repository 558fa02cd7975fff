package import HandoffCrypto

/// The account key that this device has; its epoch may have been replaced by one whose key it has not been given yet.
package struct HeldEpoch: Sendable {
    /// The epoch record that commits to the key.
    package let record: Fingerprint
    /// The number of the epoch.
    package let n: UInt64
    /// The account key, 32 bytes; leaves the device only inside mutual TLS to a member, and in an exported file.
    package let accountKey: SecretBytes
    /// When this device got or made it, in seconds since 1970 on its own clock; only for the monthly renewal.
    package let since: UInt64
    /// The keys for its several purposes.
    package let keys: EpochKeys
}
