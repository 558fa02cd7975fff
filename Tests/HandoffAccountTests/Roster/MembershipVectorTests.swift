import HandoffAccount
import HandoffCrypto
import HandoffModel
import Testing

/// The cases of docs/protocol.md, "Vectors of membership", which another program computes.
@Suite struct MembershipVectorTests {
    private let account: TestAccount
    private let cases: [String: [String: String]]

    init() throws {
        account = try TestAccount()
        cases = try ProtocolVectors.membership()
    }

    @Test
    func `members, open tickets, names and epochs match the vectors, in any order and one by one`() throws {
        #expect(cases.count > 40)
        for (name, expected) in cases {
            let statements = try Self.words(try #require(expected["statements"])).map(statement)
            try expect(account.roster(statements), expected, name)
            try expect(account.roster(statements.reversed()), expected, "\(name), reversed")
            for seed in 1...4 {
                var random = SplitMix(seed: UInt64(seed))
                try expect(account.roster(statements.shuffled(using: &random)), expected, "\(name), seed \(seed)")
            }
            var roster = try account.roster()
            // A refused statement may be offered again. One pass per statement suffices for any
            // chain.
            for statement in repeatElement(statements.reversed(), count: statements.count).joined() {
                _ = try roster.merge([statement])
            }
            try expect(roster, expected, "\(name), one by one")
        }
    }

    /// Compares a roster with the expected values of a case.
    private func expect(_ roster: Roster, _ expected: [String: String], _ name: String) throws {
        let view = roster.view
        let devices = try (0..<20).map { (number: $0, id: try TestKeys.device($0)) }
        let known = devices.filter { view.publicKey(of: $0.id) != nil }
        let live = known.filter { view.isLive($0.id) }
        let void = known.filter { !view.isLive($0.id) && !view.isRemoved($0.id) }
        let removed = try (devices.map(\.number) + [100]).filter { view.removed.contains(try Self.id($0)) }
        let tickets = try view.openTickets.map { $0.id == (try Self.id(100)) ? 100 : -1 }
        let names = devices.compactMap { device in view.names[device.id].map { "\(device.number)=\($0)" } }
        let epoch = view.currentEpoch.flatMap { record in
            devices.first { $0.id == record.signer }.map { "\($0.number)e\(record.n)" }
        }
        let found = [
            "live": Self.text(live.map(\.number)), "void": Self.text(void.map(\.number)), "removed": Self.text(removed),
            "tickets": Self.text(tickets), "names": names.joined(separator: " "), "epoch": epoch ?? "",
            "digest": Hex.encode(roster.shortDigest),
            "removedDigest": Hex.encode(Array(view.removedDigest.bytes.prefix(8))),
        ]
        for (field, value) in found {
            #expect(expected[field] == value, "\(name): \(field)")
        }
        #expect(view.live.count == live.count && expected.count == found.count + 1, "\(name)")
    }

    // MARK: - Reading a case

    /// The statement encoded by a word such as `0-1/2,3`.
    private func statement(_ word: Substring) throws -> Statement {
        let verb = try #require(word.firstIndex { !$0.isNumber })
        let signer = try Self.number(word[..<verb])
        let rest = word[word.index(after: verb)...]
        let parts = rest.split(separator: "/", maxSplits: 1)
        let named = try (parts.count > 1 ? parts[1].split(separator: ",") : []).map { try Self.id(Self.number($0)) }
        if word[verb] == "n" {
            let dot = try #require(rest.firstIndex(of: "."))
            let sign = try #require(rest.firstIndex(of: "="))
            let counter = try #require(UInt32(rest[rest.index(after: dot)..<sign]))
            let text = String(rest[rest.index(after: sign)...])
            return try account.name(Self.number(rest[..<dot]), text, counter, by: signer)
        }
        let subject = try Self.number(try #require(parts.first))
        switch word[verb] {
        case "+": return try account.add(subject, by: signer)
        case "t": return try account.ticket(subject, by: signer)
        case "u": return try account.use(signer, for: subject)
        case "-": return try account.sign(.remove(subject: try Self.id(subject), keeps: named.sorted()), by: signer)
        case "e":
            let removed = try #require(Fingerprint(bytes: SHA256.hash(named.sorted().flatMap(\.bytes))))
            let commitment = EpochKeys.commitment(to: SecretBytes(copying: [UInt8](repeating: 1, count: 32)))
            return try account.sign(
                .epoch(n: UInt32(subject), removedDigest: removed, keyCommitment: commitment), by: signer)
        default: throw StatementError.layout
        }
    }

    private static func words(_ text: String) -> [Substring] {
        text.split(separator: " ")
    }

    private static func number(_ text: Substring) throws -> Int {
        try #require(Int(text))
    }

    private static func text(_ numbers: [Int]) -> String {
        numbers.map(String.init).joined(separator: " ")
    }

    /// The id of a device, or of a ticket for keys from 100 on.
    private static func id(_ number: Int) throws -> Fingerprint {
        number < 100
            ? Fingerprint(try TestKeys.device(number)) : Fingerprint(ticket: try TestKeys.key(number).publicKey)
    }
}
