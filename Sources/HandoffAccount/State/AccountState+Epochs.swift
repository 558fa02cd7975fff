package import HandoffCrypto
package import HandoffModel

extension AccountState {
    /// Makes a new account key and the record that commits to it; the former key goes, but for what finds stragglers.
    ///
    /// - Throws: ``AccountError/epochsExhausted`` when a member that is still live used up the numbers: it has to be
    ///   removed first, and then its records no longer count.
    package func makingEpoch(by signer: SigningKey, now: UInt64) throws -> AccountState {
        try requireLive(signer)
        let accountKey = try SecretBytes(random: EpochKeys.accountKeyCount)
        let n = try nextEpochNumber()
        let content = StatementContent.epoch(
            n: n, removedDigest: view.removedDigest, keyCommitment: EpochKeys.commitment(to: accountKey))
        let record = try Statement.sign(content, accountID: accountID, with: signer)
        var next = try adding([record])
        guard next.view.currentEpoch?.id == record.id else { throw AccountError.epochsExhausted }
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

    /// One more than the greatest number by a live device. When that is used up, of those that count: a hostile number
    /// is then passed as soon as no record with it holds any more.
    private func nextEpochNumber() throws(AccountError) -> UInt64 {
        let (next, hasOverflowed) = (view.greatestEpoch ?? 0).addingReportingOverflow(1)
        guard hasOverflowed else { return next }
        let (counted, hasOverflowedToo) = (view.currentEpoch?.n ?? 0).addingReportingOverflow(1)
        guard !hasOverflowedToo else { throw .epochsExhausted }
        return counted
    }

    /// Puts a key in the place of the one that is held, which becomes a former epoch.
    mutating func hold(_ accountKey: SecretBytes, record: Fingerprint, n: UInt64, now: UInt64) throws(CryptoError) {
        let keys = try EpochKeys(accountKey: accountKey, accountID: accountID, epoch: n)
        if let held {
            formerEpochs.append(FormerEpoch(held.keys))
            formerEpochs.removeFirst(max(0, formerEpochs.count - FormerEpoch.mostKept))
        }
        held = HeldEpoch(record: record, n: n, accountKey: accountKey, since: now, keys: keys)
        exposedRecord = nil
    }
}
