package import HandoffCrypto
package import HandoffModel

extension AccountState {
    /// The account that a member gave to this device when they were paired.
    ///
    /// The caller stores it before it tells the member that it has arrived.
    ///
    /// - Throws: ``AccountError/notLive(_:)`` when the roster does not admit `device`, ``AccountError/noCurrentKey`` or
    ///   ``AccountError/wrongKey`` when the key is not the one of the epoch in force.
    package static func joining(
        _ roster: Roster, device: DeviceID, accountKey: SecretBytes, now: UInt64
    ) throws -> AccountState {
        guard roster.view.isLive(device) else { throw AccountError.notLive(device) }
        return try AccountState(roster: roster).accepting(accountKey, now: now)
    }
}
