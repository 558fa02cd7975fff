internal import HandoffModel

/// Orders in which statements are written and sent.
enum StatementOrder {
    /// The founding statement, then admissions from the founder outwards, then removals, epochs and names; within each
    /// by id, so that one set has one order.
    static func admissionsFirst(_ statements: [Fingerprint: Statement], founding: Statement) -> [Statement] {
        let sorted = statements.values.sorted { $0.id < $1.id }
        var bySigner: [Fingerprint: [Statement]] = [:]
        for statement in sorted where statement.admitted != nil {
            bySigner[statement.signerID, default: []].append(statement)
        }
        var ordered = [founding]
        var reached: Set<Fingerprint> = [founding.signerID]
        var frontier = [founding.signerID]
        while !frontier.isEmpty {
            var next: [Fingerprint] = []
            for signer in frontier {
                for statement in bySigner[signer] ?? [] {
                    ordered.append(statement)
                    if let admitted = statement.admitted, reached.insert(admitted).inserted { next.append(admitted) }
                }
            }
            frontier = next
        }
        for kind in [StatementKind.remove, .epoch, .name] {
            ordered += sorted.filter { $0.content.kind == kind }
        }
        return ordered
    }
}
