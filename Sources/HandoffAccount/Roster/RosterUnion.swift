internal import HandoffModel

/// The work of one merge: a copy of the set that becomes the roster only if nothing in the offer is broken.
struct RosterUnion {
    let accountID: AccountID
    var statements: [Fingerprint: Statement]
    var byteCount: Int
    var known: Set<Fingerprint>
    var tallies: [Fingerprint: SignerTally]
    /// Whether signatures were checked before.
    let isTrusted: Bool
    var result = MergeResult()

    /// Ids of what this merge took, displaced ones included.
    private var added: Set<Fingerprint> = []
    /// Statements that wait until the key that they depend on is known.
    private var waiting: [Fingerprint: [Statement]] = [:]

    init(
        accountID: AccountID, statements: [Fingerprint: Statement], byteCount: Int, known: Set<Fingerprint>,
        tallies: [Fingerprint: SignerTally], isTrusted: Bool
    ) {
        self.accountID = accountID
        self.statements = statements
        self.byteCount = byteCount
        self.known = known
        self.tallies = tallies
        self.isTrusted = isTrusted
    }

    /// Adds all, in an order in which signers come before what they sign; linear in the number of statements.
    mutating func add(_ offered: [Statement]) throws(StatementError) {
        var queue = Self.lastFirst(offered)
        while let statement = queue.popLast() {
            guard statement.accountID == accountID else { throw .foreignAccount(statement.accountID) }
            if statements[statement.id] != nil { continue }
            if let missing = missingKey(of: statement) {
                waiting[missing, default: []].append(statement)
                continue
            }
            try place(statement)
            if let admitted = statement.admitted, known.contains(admitted) {
                queue += (waiting.removeValue(forKey: admitted) ?? []).reversed()
            }
        }
        // What came and went within this merge was never stored.
        result.added.removeAll { statements[$0.id] == nil }
        for statement in waiting.values.joined() {
            result.refused.append(.init(statement: statement, reason: .unknownKey))
        }
    }

    /// The offer with the statement to begin with at its end: admissions as they came, then the others, the greatest of each
    /// key before those that it makes obsolete. So a hostile offer of a thousand names for one device costs one signature.
    private static func lastFirst(_ offered: [Statement]) -> [Statement] {
        let admissions = offered.filter { $0.admitted != nil }
        let others = offered.filter { $0.admitted == nil }.map { ($0, rank(of: $0)) }
        return others.sorted { $0.1 < $1.1 }.map(\.0) + admissions.reversed()
    }

    private static func rank(of statement: Statement) -> RankedStatement {
        switch statement.content {
        case .name(_, let counter, _): RankedStatement(number: UInt64(counter), id: statement.id)
        case .epoch(let n, _, _): RankedStatement(number: n, id: statement.id)
        case .found, .add, .ticket, .use, .remove: RankedStatement(number: 0, id: statement.id)
        }
    }

    /// A key that has to be known before the statement means anything.
    private func missingKey(of statement: Statement) -> Fingerprint? {
        guard known.contains(statement.signerID) else { return statement.signerID }
        // Else a hostile member could fill the account with names for devices that do not exist.
        if case .name(let subject, _, _) = statement.content, !known.contains(Fingerprint(subject)) {
            return Fingerprint(subject)
        }
        return nil
    }

    /// Takes one statement whose signer is known, or reports why not.
    private mutating func place(_ statement: Statement) throws(StatementError) {
        var tally = tallies[statement.signerID] ?? SignerTally()
        let displaced: Fingerprint?
        switch Self.fit(statement, into: &tally, known: known) {
        case .fits(let displacing):
            displaced = displacing
        case .isObsolete:
            return
        case .exceeds(let limit):
            result.refused.append(.init(statement: statement, reason: .full(limit)))
            return
        }
        let freed = displaced.flatMap { statements[$0]?.encodedCount } ?? 0
        let total = byteCount - freed + statement.encodedCount
        guard total <= RosterLimits.bytes || Self.mayExceedBytes(statement, tally) else {
            result.refused.append(.init(statement: statement, reason: .full(.bytes)))
            return
        }
        guard isTrusted || statement.isGenuine else { throw .signature(of: statement.signerID) }
        if let displaced, let old = statements.removeValue(forKey: displaced) {
            if !added.contains(displaced) { result.dropped.append(old) }
        }
        statements[statement.id] = statement
        tallies[statement.signerID] = tally
        byteCount = total
        if let admitted = statement.admitted { known.insert(admitted) }
        added.insert(statement.id)
        result.added.append(statement)
    }

    /// A removal, and the epoch record that must follow it, fit even when a hostile member has filled the account.
    private static func mayExceedBytes(_ statement: Statement, _ tally: SignerTally) -> Bool {
        switch statement.content.kind {
        case .remove: tally.removals.count <= RosterLimits.removalsWhenFull
        case .epoch: true
        case .found, .add, .ticket, .use, .name: false
        }
    }
}
