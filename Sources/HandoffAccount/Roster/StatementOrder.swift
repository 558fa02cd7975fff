internal import HandoffModel

/// The orders in which statements are written and sent.
enum StatementOrder {
    /// The founding statement, then admissions from the founder outwards, then removals, epochs,
    /// names and reserved kinds. Each group is sorted by id, so a set has exactly one order.
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
        for kind in [StatementKind.remove, .epoch, .name, .reserved] {
            ordered += sorted.filter { $0.content.kind == kind }
        }
        return ordered
    }

    /// First the chain of admissions that makes `device` a member, then all other statements that
    /// fit into `limit` bytes of a ``StatementList``.
    static func introducing(
        _ device: Fingerprint, _ statements: [Statement], limit: Int
    ) -> [Statement] {
        var byAdmitted: [Fingerprint: [Statement]] = [:]
        for statement in statements {
            if let admitted = statement.admitted { byAdmitted[admitted, default: []].append(statement) }
        }
        var chain: [Statement] = []
        var wanted: Set<Fingerprint> = [device]
        var frontier = [device]
        while !frontier.isEmpty {
            let admissions = frontier.flatMap { byAdmitted[$0] ?? [] }
            chain += admissions
            frontier = admissions.map(\.signerID).filter { wanted.insert($0).inserted }
        }
        let first = Set(chain.map(\.id))
        var room = limit
        return (chain + statements.filter { !first.contains($0.id) }).filter { statement in
            let size = statement.encodedCount + StatementList.overhead
            guard size <= room else { return false }
            room -= size
            return true
        }
    }
}
