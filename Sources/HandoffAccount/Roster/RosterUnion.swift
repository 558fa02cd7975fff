internal import HandoffModel

/// One merge in progress. This copy of the set becomes the roster only if the merge throws no
/// error.
struct RosterUnion {
    let accountID: AccountID
    var statements: [Fingerprint: Statement]
    var byteCount: Int
    var known: Set<Fingerprint>
    var tallies: [Fingerprint: SignerTally]
    /// True if signatures were checked earlier.
    let isTrusted: Bool
    var result = MergeResult()

    /// Ids of the statements added by this merge, including those displaced again.
    private var added: Set<Fingerprint> = []
    /// Statements that wait for a key that they depend on, by key.
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

    /// Adds all statements, signers before the statements that they sign. Takes linear time.
    mutating func add(_ offered: [Statement]) throws(StatementError) {
        var queue = Self.lastFirst(offered)
        while let statement = queue.popLast() {
            guard statement.accountID == accountID else { throw .foreignAccount(statement.accountID) }
            if statements[statement.id] != nil || statement.content.kind == .epoch { continue }
            if let missing = missingKey(of: statement) {
                waiting[missing, default: []].append(statement)
                continue
            }
            try place(statement)
            if let admitted = statement.admitted, known.contains(admitted) {
                queue += (waiting.removeValue(forKey: admitted) ?? []).reversed()
            }
        }
        try addEpochs(offered)
        // Statements added and displaced within this merge were never stored.
        result.added.removeAll { statements[$0.id] == nil }
        for statement in waiting.values.joined() {
            result.refused.append(.init(statement: statement, reason: .unknownKey))
        }
    }

    /// Adds the epoch records that name the current removed digest. Runs last, when all removals
    /// are known. Other records are either obsolete or premature; a premature record is offered
    /// again after its removals.
    private mutating func addEpochs(_ offered: [Statement]) throws(StatementError) {
        let digest = removedDigest
        for old in statements.values where !Self.names(digest, old) {
            statements[old.id] = nil
            byteCount -= old.encodedCount
            tallies[old.signerID]?.epoch = nil
            if !added.contains(old.id) { result.dropped.append(old) }
        }
        let records = offered.filter { $0.content.kind == .epoch && Self.names(digest, $0) }
        // Greatest first, so that a hostile offer of a thousand records costs one signature check.
        for record in records.sorted(by: { Self.rank(of: $1) < Self.rank(of: $0) }) where statements[record.id] == nil {
            if known.contains(record.signerID) {
                try place(record)
            } else {
                result.refused.append(.init(statement: record, reason: .unknownKey))
            }
        }
    }

    /// Returns true for a statement that is not an epoch record, or is one that names this digest.
    private static func names(_ digest: Fingerprint, _ statement: Statement) -> Bool {
        if case .epoch(_, let named, _) = statement.content { named == digest } else { true }
    }

    /// The digest of the removed devices, which valid epoch records name.
    private var removedDigest: Fingerprint {
        var devices: Set<Fingerprint> = []
        var removed: Set<Fingerprint> = []
        for statement in statements.values {
            switch statement.content {
            case .found: devices.insert(statement.signerID)
            case .add(let key), .use(let key): devices.insert(Fingerprint(DeviceID(key)))
            case .remove(let subject, _): removed.insert(subject)
            case .ticket, .name, .epoch, .reserved: break
            }
        }
        return RosterView.removedDigest(of: devices.intersection(removed))
    }

    /// The offer in reverse order of processing: admissions as received, then the other statements,
    /// with the greatest of each key before those that it makes obsolete. A hostile offer of a
    /// thousand names for one device then costs one signature check.
    private static func lastFirst(_ offered: [Statement]) -> [Statement] {
        let admissions = offered.filter { $0.admitted != nil }
        let others = offered.filter { $0.admitted == nil }.map { ($0, rank(of: $0)) }
        return others.sorted { $0.1 < $1.1 }.map(\.0) + admissions.reversed()
    }

    private static func rank(of statement: Statement) -> RankedStatement {
        switch statement.content {
        case .name(_, let counter, _): RankedStatement(number: counter, id: statement.id)
        case .epoch(let n, _, _): RankedStatement(number: n, id: statement.id)
        case .found, .add, .ticket, .use, .remove, .reserved: RankedStatement(number: 0, id: statement.id)
        }
    }

    /// A key that must be known before the statement is meaningful, or nil.
    private func missingKey(of statement: Statement) -> Fingerprint? {
        guard known.contains(statement.signerID) else { return statement.signerID }
        // Otherwise a hostile member could fill the account with names of nonexistent devices.
        if case .name(let subject, _, _) = statement.content, !known.contains(Fingerprint(subject)) {
            return Fingerprint(subject)
        }
        return nil
    }

    /// Adds one statement whose signer is known, or reports why it is refused.
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
        // Statements that this device has stored were within the limits in their order of arrival.
        guard isTrusted || total <= RosterLimits.bytes || Self.mayExceedBytes(statement, tally) else {
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

    /// Returns true for removals and their epoch record, which fit even if a hostile member has
    /// filled the account.
    private static func mayExceedBytes(_ statement: Statement, _ tally: SignerTally) -> Bool {
        switch statement.content.kind {
        case .remove: tally.removals.count <= RosterLimits.removalsWhenFull
        case .epoch: true
        case .found, .add, .ticket, .use, .name, .reserved: false
        }
    }
}

/// The result of merging statements into a roster.
package struct MergeResult: Sendable {
    /// Statements that are new in the roster.
    package var added: [Statement] = []
    /// Statements displaced by greater ones of the same key: older names and epoch records.
    package var dropped: [Statement] = []
    /// Statements that were refused, although their signatures may be right.
    package var refused: [Refusal] = []

    /// True if the roster has changed and must be stored before the caller acts on it.
    package var hasChanged: Bool {
        !added.isEmpty
    }

    /// A refused statement.
    package struct Refusal: Sendable, Equatable {
        /// The statement.
        package let statement: Statement
        package let reason: Reason
    }

    /// Why a roster refuses a statement.
    package enum Reason: Sendable, Equatable {
        /// No known key admitted the signer, or the device that the statement names.
        case unknownKey
        /// A limit in ``RosterLimits`` is reached. The log must name the signer for the operator.
        case full(FullLimit)
    }

    /// The limit that a statement would exceed.
    package enum FullLimit: String, Sendable {
        /// ``RosterLimits/keys``
        case keys
        /// ``RosterLimits/admissions``
        case admissions
        /// ``RosterLimits/removals``
        case removals
        /// ``RosterLimits/bytes``
        case bytes
    }

    /// One log line for each signer whose statements exceeded a limit: `account full, signer …`.
    package var complaints: [String] {
        var lines: [String] = []
        for refusal in refused {
            guard case .full(let limit) = refusal.reason else { continue }
            let line = "account full, signer \(refusal.statement.signerID.short), limit \(limit.rawValue)"
            if !lines.contains(line) { lines.append(line) }
        }
        return lines
    }
}
