package import HandoffAccount
package import HandoffCrypto
package import HandoffModel
internal import HandoffProtocol

/// The account as an inviter sends it: u64 epoch number, account key (32), then a
/// ``StatementList``.
package struct PairedAccount: Sendable {
    /// The epoch of the key.
    package let epoch: UInt64
    /// The account key.
    package let accountKey: SecretBytes
    /// The statements, unchecked: checking thousands of signatures takes a second.
    package let statements: [UInt8]

    /// Number of bytes before the statements.
    static let headerCount = 8 + EpochKeys.accountKeyCount

    /// The plaintext, in secret memory, because an array would leave copies of the key in memory.
    var plaintext: SecretBytes {
        var writer = ByteWriter(capacity: 8)
        writer.u64(epoch)
        return SecretBytes.concatenated([
            SecretBytes(copying: writer.bytes), accountKey, SecretBytes(copying: statements),
        ])
    }

    /// The account of this device after checks: all signatures are right, `device` and the inviter
    /// are members, and the key is that of the current epoch. Run it on a worker, because it checks
    /// up to thousands of signatures.
    ///
    /// The caller stores the result before it confirms that it has.
    ///
    /// - Parameter now: seconds since 1970, as stored by ``AccountState``.
    /// - Throws: ``StatementError``, ``AccountError``.
    package func state(for device: DeviceID, inviter: PairingPeer, now: UInt64) throws -> AccountState {
        let roster = try Roster(decoding: statements)
        // The inviter's key must not be removed: a removed device must not hand out the account.
        guard roster.view.isLive(inviter.device) else { throw AccountError.notLive(inviter.device) }
        let state = try AccountState.joining(roster, device: device, accountKey: accountKey, now: now)
        guard state.epoch.map(UInt64.init) == epoch else { throw AccountError.wrongKey }
        return state
    }
}

extension PairedAccount {
    /// Reads a plaintext, or returns `nil` if it is too short.
    init?(_ plaintext: SecretBytes) {
        var reader = SecretReader(plaintext)
        guard let epoch = try? reader.u64(), let key = try? reader.secret(EpochKeys.accountKeyCount),
            let statements = try? reader.plain(reader.remaining)
        else { return nil }
        self.epoch = epoch
        accountKey = key
        self.statements = statements
    }
}
