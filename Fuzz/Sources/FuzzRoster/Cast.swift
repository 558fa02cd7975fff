import HandoffAccount
import HandoffCrypto
import HandoffModel

/// Eight devices with fixed keys, of which the first created the account, four tickets, and their statements.
enum Cast {
    private static let keys: [SigningKey] = (0..<12).compactMap { number in
        try? SigningKey(seed: SecretBytes(copying: [UInt8](repeating: UInt8(number), count: 32)))
    }
    private static let nonce = [UInt8](repeating: 7, count: Statement.nonceCount)
    private static let accountID = AccountID(founder: keys[0].publicKey, nonce: nonce)
    // libFuzzer has one thread.
    nonisolated(unsafe) private static var made: [UInt32: Statement] = [:]
    nonisolated(unsafe) private static var judged: [[UInt8]: Bool] = [:]

    /// The account with only its founding statement.
    static let roster: Roster = {
        guard let founding = try? Statement.sign(.found(nonce: nonce), accountID: accountID, with: keys[0]),
            let roster = try? Roster(founding: founding)
        else { preconditionFailure("an account cannot be made") }
        return roster
    }()

    /// Returns the statement encoded in four bytes: kind, signer, subject, and the rest of its content.
    static func statement(_ bytes: [UInt8]) -> Statement? {
        guard bytes.count == 4 else { return nil }
        let kind = bytes[0] >= 240 ? 7 : bytes[0] % 7
        // Few different ones, because signing costs more than merging.
        let said = kind < 3 ? 0 : kind < 5 ? bytes[3] : bytes[3] & 15
        let number = [kind, bytes[1] % 8, bytes[2] % 8, said].reduce(0 as UInt32) { $0 << 8 | UInt32($1) }
        if let known = made[number] { return known }
        let signer = keys[Int(bytes[1]) % 8]
        let ticket = keys[8 + Int(bytes[1]) % 4]
        let subject = keys[Int(bytes[2]) % 8].publicKey
        let content: StatementContent
        var author = signer
        switch kind {
        case 0: content = .add(subject)
        case 1: content = .ticket(keys[8 + Int(bytes[2]) % 4].publicKey)
        case 2:
            content = .use(subject)
            author = ticket
        case 3, 4:
            let target =
                kind == 4 ? Fingerprint(ticket: keys[8 + Int(bytes[2]) % 4].publicKey) : Fingerprint(DeviceID(subject))
            let keeps = (0..<8).filter { said >> $0 & 1 == 1 }.map { Fingerprint(DeviceID(keys[$0].publicKey)) }
            content = .remove(subject: target, keeps: keeps.sorted())
        case 5: content = .name(subject: DeviceID(subject), counter: UInt32(said & 3), text: "name \(said)")
        case 7: content = .reserved(kind: 128 | said, fields: [said])
        default:
            content = .epoch(
                n: UInt32(said & 3), removedDigest: roster.view.removedDigest,
                keyCommitment: [UInt8](repeating: said, count: 32))
        }
        let statement = try? Statement.sign(content, accountID: accountID, with: author)
        made[number] = statement
        return statement
    }

    /// Returns whether all signatures are valid. Each is checked once, because mutations leave most
    /// statements of a list unchanged.
    static func areGenuine(_ statements: [Statement]) -> Bool {
        statements.allSatisfy { statement in
            let bytes = statement.encoded
            if let known = judged[bytes] { return known }
            if judged.count >= maxKept { judged.removeAll() }
            let isGenuine = statement.isGenuine
            judged[bytes] = isGenuine
            return isGenuine
        }
    }

    /// Cached results: some 50 MiB.
    private static let maxKept = 50_000
}
