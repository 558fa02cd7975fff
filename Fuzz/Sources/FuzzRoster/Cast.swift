import HandoffAccount
import HandoffCrypto
import HandoffModel

/// Eight devices with fixed keys, of which the first made the account; four tickets; and what they say.
enum Cast {
    private static let keys: [SigningKey] = (0..<12).compactMap { number in
        try? SigningKey(seed: SecretBytes(copying: [UInt8](repeating: UInt8(number), count: 32)))
    }
    private static let nonce = [UInt8](repeating: 7, count: Statement.nonceCount)
    private static let accountID = AccountID(founder: keys[0].publicKey, nonce: nonce)
    nonisolated(unsafe) private static var made: [[UInt8]: Statement] = [:]  // libFuzzer has one thread

    /// The account with its founding statement only.
    static let roster: Roster = {
        guard let founding = try? Statement.sign(.found(nonce: nonce), accountID: accountID, with: keys[0]),
            let roster = try? Roster(founding: founding)
        else { preconditionFailure("an account cannot be made") }
        return roster
    }()

    /// The statement that four bytes stand for: kind, signer, subject, and what else it says.
    static func statement(_ bytes: [UInt8]) -> Statement? {
        guard bytes.count == 4 else { return nil }
        if let known = made[bytes] { return known }
        let signer = keys[Int(bytes[1]) % 8]
        let ticket = keys[8 + Int(bytes[1]) % 4]
        let subject = keys[Int(bytes[2]) % 8].publicKey
        let more = bytes[3]
        let content: StatementContent
        var author = signer
        switch bytes[0] % 7 {
        case 0: content = .add(subject)
        case 1: content = .ticket(keys[8 + Int(bytes[2]) % 4].publicKey)
        case 2:
            content = .use(subject)
            author = ticket
        case 3, 4:
            let isTicket = bytes[0] % 7 == 4
            let target =
                isTicket ? Fingerprint(ticket: keys[8 + Int(bytes[2]) % 4].publicKey) : Fingerprint(DeviceID(subject))
            let keeps = (0..<8).filter { more >> $0 & 1 == 1 }.map { Fingerprint(DeviceID(keys[$0].publicKey)) }
            content = .remove(subject: target, keeps: keeps.sorted())
        case 5: content = .name(subject: DeviceID(subject), counter: UInt32(more & 3), text: "name \(more)")
        default:
            content = .epoch(
                n: UInt32(more & 3), removedDigest: roster.view.removedDigest,
                keyCommitment: [UInt8](repeating: more, count: 32))
        }
        let statement = try? Statement.sign(content, accountID: accountID, with: author)
        made[bytes] = statement
        return statement
    }
}
