internal import HandoffCrypto
package import HandoffModel

/// The statements of one account: a set that only grows, up to its limits.
///
/// Merging is a union, so the order in which devices receive statements has no effect. The members
/// are a function of the set (``RosterView``). Every statement in the set is genuine, and its
/// signer is known: the founder, or a key that a statement in the set admits. The view and the
/// digest are computed when the set changes, so reading them is free.
package struct Roster: Sendable {
    /// The account.
    package let accountID: AccountID
    /// The founding statement.
    package let founding: Statement
    /// All statements by id.
    private(set) var statements: [Fingerprint: Statement]
    /// Total size of all statements in bytes.
    package private(set) var byteCount: Int
    /// The members, and everything else derived from the statements.
    package private(set) var view: RosterView
    /// SHA-256 of all ids in ascending order, 32 bytes. Beacons, adverts and hello carry the first
    /// 8.
    package private(set) var digest: [UInt8]

    /// The founder and all devices and tickets ever admitted, at most ``RosterLimits/keys``.
    private(set) var known: Set<Fingerprint>
    /// The counts and statements that ``RosterLimits`` applies to, by signer.
    private(set) var tallies: [Fingerprint: SignerTally]

    /// Creates the roster of a new account from its founding statement.
    ///
    /// - Throws: ``StatementError/noFounder`` for a statement of another kind,
    ///   ``StatementError/signature(of:)``.
    package init(founding: Statement) throws(StatementError) {
        guard case .found = founding.content else { throw .noFounder }
        guard founding.isGenuine else { throw .signature(of: founding.signerID) }
        self.init(trusted: founding)
    }

    private init(trusted founding: Statement) {
        accountID = founding.accountID
        self.founding = founding
        statements = [founding.id: founding]
        byteCount = founding.encodedCount
        known = [founding.signerID]
        tallies = [:]
        view = RosterView(accountID: founding.accountID, founder: founding.signer, statements: [founding])
        digest = Self.digest(of: [founding.id])
    }

    /// Decodes the result of ``encoded()``.
    ///
    /// - Parameter isTrusted: true only for a file that this device wrote and whose checksum is
    ///   right. Its signatures were checked before it was written, and checking them again would
    ///   cost 130 microseconds each at every start.
    /// - Throws: also when a limit or an unknown signer would exclude statements, because this
    ///   program does not write such a file.
    package init(decoding bytes: [UInt8], isTrusted: Bool = false) throws(StatementError) {
        let statements = try StatementList.decode(bytes)
        guard let founding = statements.first(where: { $0.content.kind == .found }) else { throw .noFounder }
        if isTrusted {
            self.init(trusted: founding)
        } else {
            try self.init(founding: founding)
        }
        let result = try merge(statements, isTrusted: isTrusted)
        guard result.refused.isEmpty, result.dropped.isEmpty else { throw .layout }
    }

    /// All statements, each after those that it depends on. Any prefix of the list can be merged
    /// alone.
    package var ordered: [Statement] {
        StatementOrder.admissionsFirst(statements, founding: founding)
    }

    /// The statements that a device sends to be admitted by a member that does not know it: all if
    /// they fit into `limit` bytes of a ``StatementList``, otherwise at least the chain of
    /// admissions that makes it a member.
    package func introduction(of device: DeviceID, limit: Int) -> [Statement] {
        StatementOrder.introducing(Fingerprint(device), ordered, limit: limit)
    }

    /// The removal statements. They contain only ids, so they may be sent to a device that is no
    /// longer a member.
    package var removals: [Statement] {
        statements.values.filter { $0.content.kind == .remove }.sorted { $0.id < $1.id }
    }

    /// ``ordered`` as a ``StatementList``.
    package func encoded() -> [UInt8] {
        StatementList.encode(ordered)
    }

    /// Returns whether the statement is in the set.
    package func contains(_ id: Fingerprint) -> Bool {
        statements[id] != nil
    }

    /// The number of devices and tickets that a signer has removed.
    func removalCount(by signer: Fingerprint) -> Int {
        tallies[signer]?.removals.count ?? 0
    }

    /// Returns whether the set contains a removal of `subject` by `signer`.
    func isRemoved(_ subject: Fingerprint, by signer: Fingerprint) -> Bool {
        tallies[signer]?.removals[subject] != nil
    }

    /// Returns whether the device was removed by another device that it has removed itself.
    func isRemovedMutually(_ device: Fingerprint) -> Bool {
        tallies[device]?.removals.keys.contains { $0 != device && isRemoved(device, by: $0) } ?? false
    }

    /// The first 8 bytes of ``digest``, as sent over the network.
    package var shortDigest: [UInt8] {
        Array(digest.prefix(8))
    }

    /// SHA-256 of the ids in ascending order.
    static func digest(of ids: some Sequence<Fingerprint>) -> [UInt8] {
        var bytes: [UInt8] = []
        for id in ids.sorted() { id.append(to: &bytes) }
        return SHA256.hash(bytes)
    }

    /// Adds all new statements or, on a throw, none.
    ///
    /// Statements that exceed a limit, or whose signer this account does not know, are omitted and
    /// reported. They are not the sender's fault. A wrong signature is, because every device checks
    /// signatures before it stores statements.
    ///
    /// The caller must store the roster before it acts on the new ``view``. Signatures are checked
    /// once: statements that are already in the set or are omitted are not checked.
    package mutating func merge(_ offered: [Statement]) throws(StatementError) -> MergeResult {
        try merge(offered, isTrusted: false)
    }

    /// Adds all statements of another roster of this account. Their signatures were checked when
    /// that roster was created and are not checked again.
    package mutating func merge(_ other: Roster) throws(StatementError) -> MergeResult {
        let new = other.statements.values.filter { statements[$0.id] == nil }
        return try merge(new.sorted { $0.id < $1.id }, isTrusted: true)
    }

    /// Adds the new statements, as ``merge(_:)``.
    ///
    /// - Parameter isTrusted: true only if each signature was verified by this process, or before
    ///   the statements were stored.
    package mutating func merge(_ offered: [Statement], isTrusted: Bool) throws(StatementError) -> MergeResult {
        var union = RosterUnion(
            accountID: accountID, statements: statements, byteCount: byteCount, known: known, tallies: tallies,
            isTrusted: isTrusted)
        try union.add(offered)
        guard union.result.hasChanged else { return union.result }
        statements = union.statements
        byteCount = union.byteCount
        known = union.known
        tallies = union.tallies
        view = RosterView(accountID: accountID, founder: founding.signer, statements: statements.values)
        digest = Self.digest(of: statements.keys)
        return union.result
    }
}
