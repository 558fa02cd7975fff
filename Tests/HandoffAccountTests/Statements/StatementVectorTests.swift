import HandoffAccount
import HandoffCrypto
import HandoffModel
import Testing

/// The numbers of docs/protocol.md, "Roster and epochs", which another program computed (Python's hashlib and
/// cryptography).
@Suite struct StatementVectorTests {
    let account: TestAccount

    init() throws {
        account = try TestAccount()
    }

    @Test("accounts, devices and tickets have the ids of the vectors")
    func ids() throws {
        #expect(account.id.hex == "58a1e53e3a6fdae6b6b1ca96166e362d")
        #expect(try TestKeys.device(0).hex == "339e2ff917630507b6a423b5ce084e285d1fa65d93b3e27a6195d3bbebc9ae23")
        #expect(
            try Fingerprint(ticket: TestKeys.key(100).publicKey).hex
                == "3fc050ab7f3eb3c7822881b809c75600a4f047d3727625d6dc7b8a643980c912")
    }

    @Test("statements have the bytes of the vectors, signatures included")
    func statements() throws {
        let statements = try account.oneOfEach()
        #expect(
            statements.map(\.id.hex) == [
                "70ba967d81744bbdec25e2c65d743a974b165d0a60c062465336388ca95ea2b1",
                "c36b92b02d06e3a5d41bebb70d139e7bb89148b027b73d278b22b4deacff2462",
                "57bcebee4d11665d9938abac6790a1118df3b3d6d7eae7ff5a0c5165cf3a3876",
                "ab4ba963d0a94b288c701205daf0cf1825fc75b544c79d4833ca08cef1d4ec8d",
                "a18fb168c2555f24bd022377304599c7dc163d6e5dabb509274c2e345fd7079c",
                "112a421f37644f9fb1702d183a8019f8ea59aca5e757e5ae996bb06b5a1a73ae",
                "2a715adccb27ee1af03545ce7500b91640fadb6f115add712899d91d1ecfe633",
            ])
        let whole = SHA256.hash(statements.flatMap(\.encoded))
        #expect(Hex.encode(whole) == "afb94bb8ce7be1e568b61a17ab8ebb5e4b713d3d3996e99394011ce02f42abe6")
    }

    @Test("the roster and the removed have the digests of the vectors")
    func digests() throws {
        let roster = try account.roster(account.oneOfEach())
        #expect(Hex.encode(roster.digest) == "063bfad533636f4edcbca4f463414e6f376a9b230e28d957c23f545b31c4e0aa")
        #expect(
            roster.view.removedDigest.hex == "a6fdc967c1c77004e90b85be1e5f0825fc0d0c196fd502a3a44670355234e497")
    }

    @Test("the keys of an epoch are those of the vectors")
    func keys() throws {
        let key = SecretBytes(copying: [UInt8](repeating: 1, count: 32))
        let keys = try EpochKeys(accountKey: key, accountID: account.id, epoch: 1)
        #expect(
            [keys.label, keys.beacon, keys.advert, keys.gate].map { Hex.encode($0.exposedCopy()) } == [
                "0696bbac03f9bf499e329ef36cad8a4684e0a3cc2355796bd034c36537add934",
                "2a91d05ce0f34104d9a998e32be0df223c9c4aaa8a537f09fb4bd6400d544956",
                "3fbb346426d1116a00762b363f56e0780c705fa92de7d8244a47673916cbd3b0",
                "a6fe95f8f6e947e7b669cafd61a6fc1ca797d0b130a90b57cd95bc773af88332",
            ])
    }
}
