package import HandoffCrypto
package import HandoffModel

extension AccountState {
    /// Generates a new account key and the record that commits to it, and drops the previous key.
    ///
    /// - Throws: ``AccountError/epochsExhausted`` when a member has used the greatest number.
    ///   Removing that member invalidates all records.
    package func makingEpoch(by signer: SigningKey, now: UInt64) throws -> AccountState {
        try requireLive(signer)
        let accountKey = try SecretBytes(random: EpochKeys.accountKeyCount)
        let n = try nextEpochNumber()
        let content = StatementContent.epoch(
            n: n, removedDigest: view.removedDigest, keyCommitment: EpochKeys.commitment(to: accountKey))
        let record = try Statement.sign(content, accountID: accountID, with: signer)
        var next = try adding([record])
        try next.setKey(accountKey, record: record.id, n: n, now: now)
        return next
    }

    /// Accepts the key of the current epoch from any member. The record identifies the right key.
    ///
    /// - Throws: ``AccountError/noCurrentKey`` when there is no current epoch,
    ///   ``AccountError/wrongKey`` when the key does not match its record.
    package func accepting(_ accountKey: SecretBytes, now: UInt64) throws -> AccountState {
        guard let current = view.currentEpoch else { throw AccountError.noCurrentKey }
        guard ConstantTime.equal(EpochKeys.commitment(to: accountKey), current.keyCommitment) else {
            throw AccountError.wrongKey
        }
        guard held?.record != current.id else { return self }
        var next = self
        try next.setKey(accountKey, record: current.id, n: current.n, now: now)
        return next
    }

    /// The current key, if it may be sent to `device` inside mutual TLS. Only members may receive
    /// it.
    ///
    /// Call it on the stored state at the time of sending: a key is never sent to a device that is
    /// not live in the sender's durable roster.
    package func keyToHandOver(to device: DeviceID) -> HeldEpoch? {
        guard isCurrent, view.isLive(device) else { return nil }
        return held
    }

    /// One more than the greatest number that this device knows, so that users see the number grow.
    /// It must only exceed the valid records. From 2^31 on, which honest members never reach, only
    /// those are considered.
    private func nextEpochNumber() throws(AccountError) -> UInt32 {
        let counted = view.greatestEpoch
        guard counted < .max else { throw .epochsExhausted }
        let known = max(counted, held?.n ?? 0)
        return known < 1 << 31 ? known + 1 : counted + 1
    }

    /// Replaces the key. Nothing is kept of the previous one.
    mutating func setKey(_ accountKey: SecretBytes, record: Fingerprint, n: UInt32, now: UInt64) throws(CryptoError) {
        let keys = try EpochKeys(accountKey: accountKey, accountID: accountID)
        held = HeldEpoch(record: record, n: n, accountKey: accountKey, since: now, keys: keys)
        exposedRecord = nil
        ticketSeed = nil
    }
}
