internal import HandoffCrypto
package import HandoffModel

/// The statements of one account: a set that only grows, up to its limits.
///
/// Merging is a union, so the order in which devices hear of statements does not matter; who is a member is a function
/// of the set (``RosterView``). Every statement in it is genuine, and its signer is known: the founder, or someone whom
/// a statement in the set admits. The view and the digest are made when the set changes, and cost nothing to read.
package struct Roster: Sendable {
    /// The account.
    package let accountID: AccountID
    /// The founding statement.
    package let founding: Statement
    /// All statements by id.
    private(set) var statements: [Fingerprint: Statement]
    /// Bytes of all statements.
    package private(set) var byteCount: Int
    /// Who is a member, and what else follows from the statements.
    package private(set) var view: RosterView
    /// SHA-256 of all ids in ascending order, 32 bytes; beacons, adverts and hello carry the first 8.
    package private(set) var digest: [UInt8]

    /// All devices and tickets that were ever admitted, and the founder; at most ``RosterLimits/keys``.
    private(set) var known: Set<Fingerprint>
    /// What counts towards the limits, by signer.
    private(set) var tallies: [Fingerprint: SignerTally]

    /// The roster of a new account, with its founding statement only.
    ///
    /// - Throws: ``StatementError/noFounder`` for a statement of another kind, ``StatementError/signature(of:)``.
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

    /// Reads what ``encoded()`` wrote.
    ///
    /// - Parameter isTrusted: true only for a file that this device wrote and whose checksum is right: signatures were
    ///   checked before it was written, and checking them again would cost 130 microseconds each at every start.
    /// - Throws: also when a limit or an unknown signer would leave statements out: such a file was not written by us.
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

    /// All statements, each after those that it depends on: any leading part of the list can be merged by itself.
    package var ordered: [Statement] {
        StatementOrder.admissionsFirst(statements, founding: founding)
    }

    /// What a device that a member does not know yet sends to be let in: all statements if they fit into `limit` bytes of a
    /// ``StatementList``, else at least the chain of admissions that makes it a member.
    package func introduction(of device: DeviceID, limit: Int) -> [Statement] {
        StatementOrder.introducing(Fingerprint(device), ordered, limit: limit)
    }

    /// The removals alone, which name nothing but ids: what a device is told that is no member any more.
    package var removals: [Statement] {
        statements.values.filter { $0.content.kind == .remove }.sorted { $0.id < $1.id }
    }

    /// ``ordered`` as a ``StatementList``.
    package func encoded() -> [UInt8] {
        StatementList.encode(ordered)
    }

    /// Whether the statement is in the set.
    package func contains(_ id: Fingerprint) -> Bool {
        statements[id] != nil
    }

    /// How many devices and tickets a signer has removed.
    func removalCount(by signer: Fingerprint) -> Int {
        tallies[signer]?.removals.count ?? 0
    }

    /// Whether a removal of `subject` by `signer` is in the set.
    func isRemoved(_ subject: Fingerprint, by signer: Fingerprint) -> Bool {
        tallies[signer]?.removals[subject] != nil
    }

    /// True if a device was removed by another one that it has removed itself.
    func isRemovedMutually(_ device: Fingerprint) -> Bool {
        tallies[device]?.removals.keys.contains { $0 != device && isRemoved(device, by: $0) } ?? false
    }

    /// The first 8 bytes of ``digest``, as they go over the network.
    package var shortDigest: [UInt8] {
        Array(digest.prefix(8))
    }

    /// SHA-256 of the ids in ascending order.
    static func digest(of ids: some Sequence<Fingerprint>) -> [UInt8] {
        var bytes: [UInt8] = []
        for id in ids.sorted() { id.append(to: &bytes) }
        return SHA256.hash(bytes)
    }

    /// Adds the statements that are new, all of them or, on a throw, none.
    ///
    /// Statements that meet a limit, or whose signer this account does not know, are left out and reported: those are
    /// no fault of who sent them. A wrong signature is, since every device checks before it stores.
    ///
    /// The caller stores the roster before it acts on the new ``view``. Signatures are checked once: what the set has
    /// already, and what would be left out, is not checked again.
    package mutating func merge(_ offered: [Statement]) throws(StatementError) -> MergeResult {
        try merge(offered, isTrusted: false)
    }

    /// Adds all of another roster of this account. It was checked when it was made, so no signature is checked again.
    package mutating func merge(_ other: Roster) throws(StatementError) -> MergeResult {
        let new = other.statements.values.filter { statements[$0.id] == nil }
        return try merge(new.sorted { $0.id < $1.id }, isTrusted: true)
    }

    /// Adds the statements that are new, as ``merge(_:)``.
    ///
    /// - Parameter isTrusted: true only when each signature was found to be genuine by this process, or before they were stored.
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
