package import HandoffAccount
package import HandoffCrypto
package import HandoffModel
internal import HandoffProtocol

/// The account as an inviter hands it over: u64 number of the epoch, account key (32), then a ``StatementList``.
package struct PairedAccount: Sendable {
    /// The epoch that the key is of.
    package let epoch: UInt64
    /// The account key.
    package let accountKey: SecretBytes
    /// The statements, not looked at yet: checking thousands of signatures takes a second.
    package let statements: [UInt8]

    /// Bytes before the statements.
    static let headerCount = 8 + EpochKeys.accountKeyCount

    /// An account to be handed over.
    package init(epoch: UInt64, accountKey: SecretBytes, statements: [UInt8]) {
        self.epoch = epoch
        self.accountKey = accountKey
        self.statements = statements
    }

    /// Reads a plaintext; `nil` when it is too short.
    init?(_ plaintext: SecretBytes) {
        var reader = SecretReader(plaintext)
        guard let epoch = try? reader.u64(), let key = try? reader.secret(EpochKeys.accountKeyCount),
            let statements = try? reader.plain(reader.remaining)
        else { return nil }
        self.epoch = epoch
        accountKey = key
        self.statements = statements
    }

    /// The plaintext, in secret memory, as an array would leave copies of the key behind.
    var plaintext: SecretBytes {
        var writer = ByteWriter(capacity: 8)
        writer.u64(epoch)
        return SecretBytes.concatenated([
            SecretBytes(copying: writer.bytes), accountKey, SecretBytes(copying: statements),
        ])
    }

    /// The account of this device, checked: every signature, that `device` and the inviter are members, and that the key
    /// is the one of the epoch in force. Checks up to thousands of signatures, so it belongs on a worker.
    ///
    /// The caller stores the result before it says that it has.
    ///
    /// - Parameter now: unix seconds, as ``AccountState`` notes them.
    /// - Throws: ``StatementError``, ``AccountError``.
    package func state(for device: DeviceID, inviter: PairingPeer, now: UInt64) throws -> AccountState {
        let roster = try Roster(decoding: statements)
        // A key that nobody removed is needed: a removed device must not hand out the account.
        guard roster.view.isLive(inviter.device) else { throw AccountError.notLive(inviter.device) }
        let state = try AccountState.joining(roster, device: device, accountKey: accountKey, now: now)
        guard state.epoch.map(UInt64.init) == epoch else { throw AccountError.wrongKey }
        return state
    }
}
