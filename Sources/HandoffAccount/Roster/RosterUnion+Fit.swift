internal import HandoffModel

extension RosterUnion {
    /// How a statement stands to the limits of its signer.
    enum Fit {
        /// It can be taken; the statement `displacing` of the same key goes.
        case fits(displacing: Fingerprint?)
        /// Greater statements of its key are there already: nothing to take, nothing to complain about.
        case isObsolete
        /// A limit does not let it in.
        case exceeds(MergeResult.FullLimit)
    }

    /// Counts the statement in `tally`, which the caller keeps only if it takes the statement.
    static func fit(_ statement: Statement, into tally: inout SignerTally, known: Set<Fingerprint>) -> Fit {
        switch statement.content {
        case .found:
            // Its account's id names key and nonce, so that the roster's own is the only one that can be genuine.
            return .fits(displacing: nil)
        case .add, .ticket, .use:
            guard tally.admissions < RosterLimits.admissions else { return .exceeds(.admissions) }
            if let admitted = statement.admitted, !known.contains(admitted), known.count >= RosterLimits.keys {
                return .exceeds(.keys)
            }
            tally.admissions += 1
            return .fits(displacing: nil)
        case .remove(let subject, _):
            return fitRemoval(statement.id, of: subject, into: &tally)
        case .name(let subject, let counter, _):
            let name = RankedStatement(number: counter, id: statement.id)
            let old = tally.names[subject]
            if let old, old > name { return .isObsolete }
            tally.names[subject] = name
            return .fits(displacing: old?.id)
        case .epoch(let n, _, _):
            let record = RankedStatement(number: n, id: statement.id)
            let old = tally.epoch
            if let old, old > record { return .isObsolete }
            tally.epoch = record
            return .fits(displacing: old?.id)
        }
    }

    private static func fitRemoval(
        _ id: Fingerprint, of subject: Fingerprint, into tally: inout SignerTally
    ) -> Fit {
        var ids = tally.removals[subject] ?? []
        if ids.isEmpty, tally.removals.count >= RosterLimits.removals { return .exceeds(.removals) }
        ids.append(id)
        ids.sort()
        let displaced = ids.count > RosterLimits.removalsOfSubject ? ids.removeFirst() : nil
        if displaced == id { return .isObsolete }
        tally.removals[subject] = ids
        return .fits(displacing: displaced)
    }
}
