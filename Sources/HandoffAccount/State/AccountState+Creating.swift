package import HandoffCrypto
internal import HandoffModel

extension AccountState {
    /// A new account with one device: its founding statement, its name, and epoch 1.
    ///
    /// - Parameters:
    ///   - device: the key of this device.
    ///   - name: what people call it, 1 to 64 bytes.
    ///   - now: seconds since 1970.
    package static func creating(device: SigningKey, name: String, now: UInt64) throws -> AccountState {
        let nonce = Randomness.bytes(Statement.nonceCount)
        let accountID = AccountID(founder: device.publicKey, nonce: nonce)
        let founding = try Statement.sign(.found(nonce: nonce), accountID: accountID, with: device)
        return try AccountState(roster: Roster(founding: founding))
            .naming(DeviceID(device.publicKey), name, by: device)
            .makingEpoch(by: device, now: now)
    }
}
