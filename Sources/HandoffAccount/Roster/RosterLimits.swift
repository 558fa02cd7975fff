internal import HandoffModel

/// Limits on the data that a hostile member can make the others store. Honest accounts stay far
/// below them.
///
/// Names, epoch records and reserved kinds keep the greatest statement of their key in any order,
/// so limiting commutes with merging. Epoch records that name an outdated removed digest have no
/// meaning and are dropped. The other limits keep the first statements to arrive. Beyond them
/// devices can differ, and they report it in the log.
package enum RosterLimits {
    /// Devices and tickets that an account can ever know, including removed ones.
    package static let keys = 256
    /// Admissions (add, ticket, use) by one signer.
    static let admissions = 64
    /// Subjects that one signer may remove.
    static let removals = 64
    /// Removals of one subject by one signer. A second one is never honest. It is kept as proof,
    /// and both lose their `keeps`. A third would add no information.
    static let removalsOfSubject = 2
    /// Statements of reserved kinds by one signer. Those with the greatest ids are kept.
    package static let reserved = 16
    /// Size of all statements of an account in bytes, as counted by ``Statement/encodedCount``.
    package static let bytes = 8 * 1024 * 1024
    /// Subjects that a signer may still remove when ``bytes`` is exhausted, so that a removal
    /// always fits.
    static let removalsWhenFull = 8
}

/// The statements of one signer, as counted by ``RosterLimits``.
struct SignerTally: Sendable {
    /// Number of statements that admit a device or ticket.
    var admissions = 0
    /// Removals by subject, at most ``RosterLimits/removalsOfSubject`` each, ascending by id.
    var removals: [Fingerprint: [Fingerprint]] = [:]
    /// The greatest name for each subject.
    var names: [DeviceID: RankedStatement] = [:]
    /// The greatest epoch record that names the current removed digest.
    var epoch: RankedStatement?
    /// Statements of reserved kinds, at most ``RosterLimits/reserved``, ascending by id.
    var reserved: [Fingerprint] = []
}

/// A statement with its rank among the statements of the same key: a number, then the id.
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
    /// The result of checking a statement against the limits of its signer.
    enum Fit {
        /// It can be added. The statement `displacing` of the same key is dropped.
        case fits(displacing: Fingerprint?)
        /// The set already has greater statements of its key. This is not an error.
        case isObsolete
        /// A limit excludes it.
        case exceeds(MergeResult.FullLimit)
    }

    /// Counts the statement in `tally`. The caller keeps `tally` only if it adds the statement.
    static func fit(_ statement: Statement, into tally: inout SignerTally, known: Set<Fingerprint>) -> Fit {
        switch statement.content {
        case .found:
            // The account id commits to key and nonce, so only the roster's own founding statement
            // is genuine.
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

    /// Adds an id to an ascending list and keeps the `count` greatest.
    private static func keepGreatest(_ count: Int, _ id: Fingerprint, of ids: inout [Fingerprint]) -> Fit {
        ids.append(id)
        ids.sort()
        let displaced = ids.count > count ? ids.removeFirst() : nil
        return displaced == id ? .isObsolete : .fits(displacing: displaced)
    }
}
