import HandoffCrypto
import HandoffModel
import Testing

@testable import HandoffAccount

/// The values of docs/protocol.md, "Roster and epochs", which another program computes.
@Suite struct StatementVectorTests {
    let account: TestAccount
    let vectors: ProtocolVectors

    init() throws {
        account = try TestAccount()
        vectors = try ProtocolVectors("roster")
    }

    @Test
    func `accounts, devices and tickets have the ids of the vectors`() throws {
        #expect(try account.id.bytes == vectors["account"])
        #expect(try TestKeys.device(0).bytes == vectors["device0"])
        #expect(try Fingerprint(ticket: TestKeys.key(100).publicKey).bytes == vectors["ticket100"])
    }

    @Test
    func `statements have the bytes of the vectors, signatures included`() throws {
        // Its record names the removed devices of an account without removals.
        let statements = try account.oneOfEach()
        let names = ["found", "add", "ticket", "use", "remove", "name", "epoch"]
        for (name, statement) in zip(names, statements) {
            #expect(try statement.id.bytes == vectors[name + "ID"], "\(name)")
        }
        #expect(try statements[0].encoded == vectors["found"])
        #expect(try SHA256.hash(statements.flatMap(\.encoded)) == vectors["statements"])
    }

    @Test
    func `the roster and the removed devices have the digests of the vectors`() throws {
        let roster = try account.roster(account.oneOfEach())
        #expect(try roster.digest == vectors["digest"])
        #expect(try roster.view.removedDigest.bytes == vectors["removed1"])
    }

    @Test
    func `a statement of a reserved kind has the bytes of the vectors, and counts in the digest`() throws {
        let reserved = try account.sign(.reserved(kind: 200, fields: Array(0..<16)), by: 0)
        #expect(try reserved.encoded == vectors["reserved"])
        var roster = try account.roster(account.oneOfEach())
        _ = try roster.merge([reserved])
        #expect(try roster.digest == vectors["reservedDigest"])
    }

    @Test
    func `account files have the bytes of the vectors`() throws {
        let file = AccountFile(
            ticketSeed: try TestKeys.key(100).seed, roster: try account.roster())
        #expect(try SHA256.hash(file.encoded().exposedCopy()) == vectors["fileClear"])
        let passphrase = SecretBytes(copying: Array("correct horse 🐎 battery staple".utf8))
        let sealed = try file.encoded(passphrase: passphrase, salt: Array(0..<16))
        #expect(try SHA256.hash(sealed.exposedCopy()) == vectors["fileSealed"])
    }
}
