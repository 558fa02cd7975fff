import HandoffAccount
import HandoffCrypto
import HandoffModel

/// An account whose founder has key 0. Any device can sign any statement, whether or not the rules
/// permit it.
struct TestAccount {
    let founding: Statement

    var id: AccountID { founding.accountID }

    init(nonce: UInt8 = 7) throws {
        let nonce = [UInt8](repeating: nonce, count: Statement.nonceCount)
        let founder = try TestKeys.key(0)
        let id = AccountID(founder: founder.publicKey, nonce: nonce)
        founding = try Statement.sign(.found(nonce: nonce), accountID: id, with: founder)
    }

    func roster(_ statements: [Statement] = []) throws -> Roster {
        var roster = try Roster(founding: founding)
        _ = try roster.merge(statements)
        return roster
    }

    func sign(_ content: StatementContent, by signer: Int) throws -> Statement {
        try Statement.sign(content, accountID: id, with: TestKeys.key(signer))
    }

    func add(_ subject: Int, by signer: Int) throws -> Statement {
        try sign(.add(TestKeys.key(subject).publicKey), by: signer)
    }

    func ticket(_ ticket: Int, by signer: Int) throws -> Statement {
        try sign(.ticket(TestKeys.key(ticket).publicKey), by: signer)
    }

    func use(_ ticket: Int, for device: Int) throws -> Statement {
        try sign(.use(TestKeys.key(device).publicKey), by: ticket)
    }

    func remove(_ subject: Int, keeping: [Int] = [], by signer: Int) throws -> Statement {
        try remove(Fingerprint(TestKeys.device(subject)), keeping: keeping, by: signer)
    }

    func removeTicket(_ ticket: Int, keeping: [Int] = [], by signer: Int) throws -> Statement {
        try remove(Fingerprint(ticket: TestKeys.key(ticket).publicKey), keeping: keeping, by: signer)
    }

    func remove(_ subject: Fingerprint, keeping: [Int], by signer: Int) throws -> Statement {
        let keeps = try keeping.map { Fingerprint(try TestKeys.device($0)) }.sorted()
        return try sign(.remove(subject: subject, keeps: keeps), by: signer)
    }

    func name(_ subject: Int, _ text: String, _ counter: UInt32, by signer: Int) throws -> Statement {
        try sign(.name(subject: TestKeys.device(subject), counter: counter, text: text), by: signer)
    }

    func reserved(_ fields: [UInt8], by signer: Int) throws -> Statement {
        try sign(.reserved(kind: 128, fields: fields), by: signer)
    }

    func epoch(_ n: UInt32, for view: RosterView, by signer: Int, key: UInt8 = 1) throws -> Statement {
        let key = SecretBytes(copying: [UInt8](repeating: key, count: 32))
        let commitment = EpochKeys.commitment(to: key)
        return try sign(.epoch(n: n, removedDigest: view.removedDigest, keyCommitment: commitment), by: signer)
    }

    /// One statement of every kind, with known signers.
    func oneOfEach() throws -> [Statement] {
        [
            founding, try add(1, by: 0), try ticket(100, by: 0), try use(100, for: 2),
            try remove(1, keeping: [2, 3], by: 0), try name(0, "Küche 🏠", 1, by: 0),
            try epoch(1, for: roster().view, by: 0),
        ]
    }
}

extension RosterView {
    /// The key numbers of live devices among the first 40 keys.
    func liveNumbers() throws -> [Int] {
        try (0..<40).filter { isLive(try TestKeys.device($0)) }
    }
}
