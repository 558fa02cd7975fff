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
        // What came and went within this merge was never stored.
        result.added.removeAll { statements[$0.id] == nil }
        for statement in waiting.values.joined() {
            result.refused.append(.init(statement: statement, reason: .unknownKey))
        }
    }

    /// Takes the epoch records, now that it is known who is removed: only those that name the present removed digest. Others are of
    /// no use any more, or of no use before their removals are here, and then they are offered again.
    private mutating func addEpochs(_ offered: [Statement]) throws(StatementError) {
        let digest = removedDigest
        for old in statements.values where !Self.names(digest, old) {
            statements[old.id] = nil
            byteCount -= old.encodedCount
            tallies[old.signerID]?.epoch = nil
            if !added.contains(old.id) { result.dropped.append(old) }
        }
        let records = offered.filter { $0.content.kind == .epoch && Self.names(digest, $0) }
        // The greatest first: so a hostile offer of a thousand records costs one signature.
        for record in records.sorted(by: { Self.rank(of: $1) < Self.rank(of: $0) }) where statements[record.id] == nil {
            if known.contains(record.signerID) {
                try place(record)
            } else {
                result.refused.append(.init(statement: record, reason: .unknownKey))
            }
        }
    }

    /// Whether a statement is no epoch record, or one that names this digest.
    private static func names(_ digest: Fingerprint, _ statement: Statement) -> Bool {
        if case .epoch(_, let named, _) = statement.content { named == digest } else { true }
    }

    /// What epoch records have to name: the removed devices.
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

    /// The offer with the statement to begin with at its end: admissions as they came, then the others, the greatest of each
    /// key before those that it makes obsolete. So a hostile offer of a thousand names for one device costs one signature.
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
        // What this device has stored was within the limits in the order in which it came.
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

    /// A removal, and the epoch record that must follow it, fit even when a hostile member has filled the account.
    private static func mayExceedBytes(_ statement: Statement, _ tally: SignerTally) -> Bool {
        switch statement.content.kind {
        case .remove: tally.removals.count <= RosterLimits.removalsWhenFull
        case .epoch: true
        case .found, .add, .ticket, .use, .name, .reserved: false
        }
    }
}

/// What came of offering statements to a roster.
package struct MergeResult: Sendable {
    /// Statements that the roster did not have and now has.
    package var added: [Statement] = []
    /// Statements that make room for greater ones of the same key: older names and epoch records.
    package var dropped: [Statement] = []
    /// Statements that were not taken though their signatures may be right.
    package var refused: [Refusal] = []

    /// Whether the roster is another than before, and has to be stored before it is acted on.
    package var hasChanged: Bool {
        !added.isEmpty
    }

    /// One statement that a roster does not take.
    package struct Refusal: Sendable, Equatable {
        /// The statement.
        package let statement: Statement
        /// Why it was not taken.
        package let reason: Reason
    }

    /// Why a roster does not take a statement.
    package enum Reason: Sendable, Equatable {
        /// Nobody whom this account knows admitted the signer, or the device that it names.
        case unknownKey
        /// A limit of ``RosterLimits`` is reached; an operator has to know who did it.
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

    /// One line for each signer whose statements met a limit, for the log: `account full, signer …`.
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
