internal import HandoffModel

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
