/// Why bytes from the network are not a beacon, advert or acknowledgement for us, in the order of the checks.
///
/// Nobody is told: the bytes are dropped, and the reason is counted for `doctor`.
package enum SealError: Error, Equatable, Sendable, CaseIterable {
    /// The size or the version is none of ours.
    case shape

    /// The sender's label is not of this account and epoch.
    case foreignLabel

    /// It was not sealed with our key, for us, under this label, or was changed on the way.
    case notGenuine

    /// The plaintext is not laid out as it should be: a member with a broken program.
    case malformed

    /// The device is not live in our roster.
    case unknownDevice

    /// The device did not sign this, or not under this label.
    case wrongSignature
}
