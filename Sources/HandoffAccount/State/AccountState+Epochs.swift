package import HandoffCrypto
package import HandoffModel

extension AccountState {
    /// Makes a new account key and the record that commits to it; the former key goes.
    ///
    /// - Throws: ``AccountError/epochsExhausted`` when a member has used the greatest number: its removal ends all records.
    package func makingEpoch(by signer: SigningKey, now: UInt64) throws -> AccountState {
        try requireLive(signer)
        let accountKey = try SecretBytes(random: EpochKeys.accountKeyCount)
        let n = try nextEpochNumber()
        let content = StatementContent.epoch(
            n: n, removedDigest: view.removedDigest, keyCommitment: EpochKeys.commitment(to: accountKey))
        let record = try Statement.sign(content, accountID: accountID, with: signer)
        var next = try adding([record])
        try next.hold(accountKey, record: record.id, n: n, now: now)
        return next
    }

    /// Takes over the key of the epoch that holds, from any member: the record says which key it is.
    ///
    /// - Throws: ``AccountError/noCurrentKey`` when no epoch holds, ``AccountError/wrongKey`` when the key is not its.
    package func accepting(_ accountKey: SecretBytes, now: UInt64) throws -> AccountState {
        guard let current = view.currentEpoch else { throw AccountError.noCurrentKey }
        guard ConstantTime.equal(EpochKeys.commitment(to: accountKey), current.keyCommitment) else {
            throw AccountError.wrongKey
        }
        guard held?.record != current.id else { return self }
        var next = self
        try next.hold(accountKey, record: current.id, n: current.n, now: now)
        return next
    }

    /// The key that may be handed to `device` inside mutual TLS: the current one, and only to a member.
    ///
    /// Asked of the state that is stored, at the moment of sending: no key is ever sent to someone who is not live in
    /// the sender's durable roster.
    package func keyToHandOver(to device: DeviceID) -> HeldEpoch? {
        guard isCurrent, view.isLive(device) else { return nil }
        return held
    }

    /// One more than the greatest number that this device knows of, so that people see it grow. Only records that count have to
    /// be passed; where numbers get large, which no honest member makes them, they alone are.
    private func nextEpochNumber() throws(AccountError) -> UInt32 {
        let counted = view.greatestEpoch
        guard counted < .max else { throw .epochsExhausted }
        let known = max(counted, held?.n ?? 0)
        return known < 1 << 31 ? known + 1 : counted + 1
    }

    /// Puts a key in the place of the one that is held, of which nothing is kept.
    mutating func hold(_ accountKey: SecretBytes, record: Fingerprint, n: UInt32, now: UInt64) throws(CryptoError) {
        let keys = try EpochKeys(accountKey: accountKey, accountID: accountID)
        held = HeldEpoch(record: record, n: n, accountKey: accountKey, since: now, keys: keys)
        exposedRecord = nil
        ticketSeed = nil
    }
}
