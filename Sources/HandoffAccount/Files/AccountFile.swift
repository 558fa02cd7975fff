package import HandoffCrypto
internal import HandoffProtocol

/// An exported account: whoever holds the file is admitted, once, until a member closes its ticket.
///
/// Content: seed of the ticket 32, n u64, account key 32, then the roster as a ``StatementList`` to the end. The `form` of
/// the header says how the content is protected: 0, in the clear; others are left for a passphrase.
package struct AccountFile: Sendable {
    /// Private half of the ticket.
    package let ticketSeed: SecretBytes
    /// Number of the epoch that held at the time.
    package let n: UInt64
    /// Account key of that epoch.
    package let accountKey: SecretBytes
    /// The roster with the ticket.
    package let roster: Roster

    /// The file's bytes.
    package func encoded() -> SecretBytes {
        var number = ByteWriter(capacity: 8)
        number.u64(n)
        return FileFormat.export.file([
            ticketSeed, SecretBytes(copying: number.bytes), accountKey, SecretBytes(copying: roster.encoded()),
        ])
    }

    /// Reads a file; all signatures in it are checked.
    package init(decoding file: SecretBytes) throws(FileError) {
        var reader = try FileFormat.export.content(of: file)
        ticketSeed = try reader.secret(SigningKey.seedCount)
        n = try reader.u64()
        accountKey = try reader.secret(EpochKeys.accountKeyCount)
        let statements = try reader.plain(reader.remaining)
        do throws(StatementError) {
            roster = try Roster(decoding: statements)
        } catch {
            throw .invalid(error.description)
        }
    }

    init(ticketSeed: SecretBytes, n: UInt64, accountKey: SecretBytes, roster: Roster) {
        self.ticketSeed = ticketSeed
        self.n = n
        self.accountKey = accountKey
        self.roster = roster
    }
}
