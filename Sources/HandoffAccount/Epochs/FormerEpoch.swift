package import HandoffCrypto

/// What is kept of an epoch that no longer holds: enough to find members that were away, and to bring them up to date.
///
/// Never the account key nor the keys of beacons and adverts: a stolen disk cannot read what was recorded in that epoch.
package struct FormerEpoch: Sendable {
    /// How many epochs back a member is still found.
    package static let mostKept = 16

    /// The epoch.
    package let n: UInt64
    /// Recognises the labels that members had in it.
    package let label: SecretBytes
    /// Opens the gate of a member that still lives in it.
    package let gate: SecretBytes

    /// Keeps the two keys of `keys`.
    package init(_ keys: EpochKeys) {
        self.init(n: keys.n, label: keys.label, gate: keys.gate)
    }

    /// The keys as they were stored.
    init(n: UInt64, label: SecretBytes, gate: SecretBytes) {
        self.n = n
        self.label = label
        self.gate = gate
    }
}
