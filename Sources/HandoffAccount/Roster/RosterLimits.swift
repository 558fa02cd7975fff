internal import HandoffModel

/// What a hostile member can make the others store, at most; honest accounts stay far below.
///
/// Names, epoch records and reserved kinds keep the greatest of their key, whatever the order, so that limiting commutes with merging; epoch
/// records of other removed digests than the present one mean nothing any more, and go.
/// The other limits are first come, first served: beyond them devices may differ, and say so loudly.
package enum RosterLimits {
    /// Devices and tickets that an account can ever know, removed ones included.
    package static let keys = 256
    /// Admissions (add, ticket, use) by one signer.
    package static let admissions = 64
    /// Subjects that one signer may remove.
    package static let removals = 64
    /// Removals by one signer of one subject. A second is never honest: it is kept as the proof of that, and both lose
    /// their `keeps`. More would say nothing new.
    static let removalsOfSubject = 2
    /// Statements of reserved kinds by one signer, those with the greatest ids.
    package static let reserved = 16
    /// Bytes of all statements of an account, as ``Statement/encodedCount`` has them.
    package static let bytes = 8 * 1024 * 1024
    /// Subjects that a signer may still remove when ``bytes`` are used up, so that a removal always fits.
    package static let removalsWhenFull = 8
}

/// What one signer has in the roster, as far as ``RosterLimits`` count it.
struct SignerTally: Sendable {
    /// Statements that admit someone.
    var admissions = 0
    /// Removals by subject, at most ``RosterLimits/removalsOfSubject`` each, ascending by id.
    var removals: [Fingerprint: [Fingerprint]] = [:]
    /// The greatest name for each subject.
    var names: [DeviceID: RankedStatement] = [:]
    /// The greatest epoch record that names the present removed digest.
    var epoch: RankedStatement?
    /// Statements of reserved kinds, at most ``RosterLimits/reserved``, ascending by id.
    var reserved: [Fingerprint] = []
}

/// A statement by what decides between it and others of its key: a number, then the id.
struct RankedStatement: Comparable, Sendable {
    /// Counter of a name, or number of an epoch.
    let number: UInt32
    /// The statement.
    let id: Fingerprint

    static func < (left: RankedStatement, right: RankedStatement) -> Bool {
        (left.number, left.id) < (right.number, right.id)
    }
}

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
        case .reserved:
            return keepGreatest(RosterLimits.reserved, statement.id, of: &tally.reserved)
        }
    }

    private static func fitRemoval(
        _ id: Fingerprint, of subject: Fingerprint, into tally: inout SignerTally
    ) -> Fit {
        var ids = tally.removals[subject] ?? []
        if ids.isEmpty, tally.removals.count >= RosterLimits.removals { return .exceeds(.removals) }
        let fit = keepGreatest(RosterLimits.removalsOfSubject, id, of: &ids)
        tally.removals[subject] = ids
        return fit
    }

    /// Adds an id to an ascending list of which the `count` greatest stay.
    private static func keepGreatest(_ count: Int, _ id: Fingerprint, of ids: inout [Fingerprint]) -> Fit {
        ids.append(id)
        ids.sort()
        let displaced = ids.count > count ? ids.removeFirst() : nil
        return displaced == id ? .isObsolete : .fits(displacing: displaced)
    }
}
