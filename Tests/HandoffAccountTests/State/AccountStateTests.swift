import HandoffAccount
import HandoffCrypto
import HandoffModel
import Testing

@Suite struct AccountStateTests {
    @Test
    func `a new account has one live device with its name, and epoch 1 with its key`() throws {
        let founder = try Member.founder()
        #expect(founder.state.view.live == [founder.id])
        #expect(founder.state.view.names == [founder.id: "founder"])
        #expect(founder.state.epoch == 1)
        #expect(founder.state.isCurrent)
        let commitment = try EpochKeys.commitment(to: #require(founder.state.accountKey))
        #expect(founder.state.view.currentEpoch?.keyCommitment == commitment)
    }

    @Test
    func `a paired device has the same view and key, without a new epoch`() throws {
        var founder = try Member.founder()
        let guest = try founder.pair(1)
        #expect(guest.state.view == founder.state.view)
        #expect(guest.state.epoch == 1)
        #expect(guest.state.accountKey == founder.state.accountKey)
        #expect(founder.state.view.names[guest.id] == "device 1")
    }

    @Test
    func `a removal creates a new epoch, whose key is sent only to live devices`() throws {
        var founder = try Member.founder()
        let guest = try founder.pair(1)
        var other = try founder.pair(2)
        let before = try #require(founder.state.accountKey)
        founder.state = try founder.state.removing(guest.id, keeping: [], by: founder.key, now: Member.start)
        #expect(founder.state.epoch == 2)
        #expect(founder.state.accountKey != before)
        #expect(founder.state.keyToHandOver(to: guest.id) == nil)
        let merge = try other.state.merging(founder.state.roster.ordered)
        #expect(merge.left == [guest.id])
        #expect(merge.hasNewEpoch)
        #expect(!merge.state.isCurrent, "the record arrived without the key")
        #expect(merge.state.keyToHandOver(to: founder.id) == nil)
        try other.meet(&founder)
        #expect(other.state.isCurrent)
    }

    @Test
    func `a removed device cannot act, and cannot be admitted again`() throws {
        var founder = try Member.founder()
        var guest = try founder.pair(1)
        founder.state = try founder.state.removing(guest.id, keeping: [], by: founder.key, now: Member.start)
        guest.state = try guest.state.merging(founder.state.roster.ordered).state
        #expect(throws: AccountError.notLive(guest.id)) { try guest.state.makingEpoch(by: guest.key, now: 0) }
        #expect(throws: AccountError.removedPermanently(guest.id)) {
            try founder.state.admitting(guest.key.publicKey, name: "again", by: founder.key)
        }
        #expect(throws: AccountError.noSuchDevice(guest.id)) {
            try founder.state.removing(guest.id, keeping: [], by: founder.key, now: 0)
        }
    }

    @Test
    func `a device that leaves keeps the devices it admitted, and the others create the epoch`() throws {
        var founder = try Member.founder()
        var guest = try founder.pair(1)
        founder.state = try founder.state.leaving(by: founder.key)
        #expect(founder.state.epochDue(for: founder.id, now: Member.start) == nil)
        guest.state = try guest.state.merging(founder.state.roster.ordered).state
        #expect(guest.state.view.live == [guest.id])
        #expect(guest.state.epochDue(for: guest.id, now: Member.start)?.reason == .missing)
        guest.state = try guest.state.makingEpoch(by: guest.key, now: Member.start)
        #expect(guest.state.isCurrent)
    }

    @Test
    func `only the key committed to by the record is accepted`() throws {
        var founder = try Member.founder()
        var guest = try founder.pair(1)
        founder.state = try founder.state.makingEpoch(by: founder.key, now: Member.start)
        guest.state = try guest.state.merging(founder.state.roster.ordered).state
        let state = guest.state
        #expect(throws: AccountError.wrongKey) { try state.accepting(SecretBytes(random: 32), now: 0) }
        let old = try #require(state.accountKey)
        #expect(throws: AccountError.wrongKey) { try state.accepting(old, now: 0) }
        #expect(!state.isCurrent)
    }

    @Test
    func `the sub-keys differ by purpose, account and key`() throws {
        let key = SecretBytes(copying: [UInt8](repeating: 1, count: 32))
        let account = try TestAccount().id
        let sets = [
            try EpochKeys(accountKey: key, accountID: account),
            try EpochKeys(accountKey: SecretBytes(copying: [UInt8](repeating: 2, count: 32)), accountID: account),
            try EpochKeys(accountKey: key, accountID: TestAccount(nonce: 9).id),
        ]
        let keys = sets.flatMap { [$0.label, $0.beacon, $0.advert, $0.gate].map { $0.exposedCopy() } }
        #expect(Set(keys).count == 12)
        #expect(try sets[0].gate == HKDF.expand(key, info: Array("handoff/1 gate".utf8) + account.bytes))
    }

    @Test
    func `an unknown device is admitted by the statements it presents, or nothing is stored`() throws {
        var founder = try Member.founder()
        let away = try founder.pair(1)
        let guest = try founder.pair(2)
        let merge = try #require(try away.state.admits(guest.key.publicKey, with: guest.state.roster.ordered))
        #expect(merge.joined == [guest.id])
        let unknown = try TestKeys.key(3).publicKey
        #expect(try away.state.admits(unknown, with: guest.state.roster.ordered) == nil)
        founder.state = try founder.state.removing(guest.id, keeping: [], by: founder.key, now: 0)
        #expect(try founder.state.admits(guest.key.publicKey, with: guest.state.roster.ordered) == nil)
    }

    @Test
    func `a name replaces all others by its counter; repeating it changes nothing`() throws {
        var founder = try Member.founder()
        let guest = try founder.pair(1)
        let renamed = try founder.state.naming(guest.id, "phone", by: founder.key)
        #expect(renamed.view.names[guest.id] == "phone")
        let digest = renamed.roster.digest
        #expect(try renamed.naming(guest.id, "phone", by: founder.key).roster.digest == digest)
        for name in ["", "  ", "\u{200B}", String(repeating: "a", count: 65)] {
            #expect(throws: AccountError.badName) { try founder.state.naming(guest.id, name, by: founder.key) }
        }
    }

    @Test
    func `a name with the greatest counter prevents renaming until its author is removed`() throws {
        var founder = try Member.founder()
        let guest = try founder.pair(1)
        let spoof = try Statement.sign(
            .name(subject: founder.id, counter: .max, text: "spoof"), accountID: founder.state.accountID,
            with: guest.key)
        founder.state = try founder.state.merging([spoof]).state
        let state = founder.state
        #expect(throws: AccountError.namesExhausted) { try state.naming(founder.id, "mine", by: founder.key) }
        founder.state = try state.removing(guest.id, keeping: [], by: founder.key, now: 0)
        #expect(try founder.state.naming(founder.id, "mine", by: founder.key).view.names[founder.id] == "mine")
    }

    @Test
    func `a hostile epoch number prevents new epochs until its author is removed, and nothing traps`() throws {
        var founder = try Member.founder()
        let guest = try founder.pair(1)
        let hostile = try Statement.sign(
            .epoch(
                n: .max, removedDigest: founder.state.view.removedDigest, keyCommitment: Array(repeating: 0, count: 32)),
            accountID: founder.state.accountID, with: guest.key)
        founder.state = try founder.state.merging([hostile]).state
        let state = founder.state
        #expect(state.view.currentEpoch?.n == .max)
        #expect(throws: AccountError.epochsExhausted) { try state.makingEpoch(by: founder.key, now: 0) }
        founder.state = try state.removing(guest.id, keeping: [], by: founder.key, now: 0)
        #expect(founder.state.epoch == 2)
        #expect(founder.state.isCurrent)
    }

    @Test
    func `large numbers of a hostile member are dropped with it, even if others have exceeded them`() throws {
        var founder = try Member.founder()
        let guest = try founder.pair(1)
        let hostile = try Statement.sign(
            .epoch(
                n: .max - 3, removedDigest: founder.state.view.removedDigest,
                keyCommitment: Array(repeating: 0, count: 32)),
            accountID: founder.state.accountID, with: guest.key)
        founder.state = try founder.state.merging([hostile]).state
        founder.state = try founder.state.makingEpoch(by: founder.key, now: 0)
        #expect(founder.state.epoch == UInt32.max - 2)
        founder.state = try founder.state.removing(guest.id, keeping: [], by: founder.key, now: 0)
        #expect(founder.state.epoch == 1)
        for _ in 0..<3 { founder.state = try founder.state.makingEpoch(by: founder.key, now: 0) }
        #expect(founder.state.isCurrent)
    }

    @Test
    func `a roster keeps one epoch record per signer, and none that names other removals`() throws {
        var founder = try Member.founder()
        var guest = try founder.pair(1)
        let other = try founder.pair(2)
        for _ in 0..<5 { founder.state = try founder.state.makingEpoch(by: founder.key, now: 0) }
        try founder.meet(&guest)
        guest.state = try guest.state.makingEpoch(by: guest.key, now: 0)
        try founder.meet(&guest)
        func count(_ state: AccountState) -> Int { state.roster.ordered.count { $0.content.kind == .epoch } }
        #expect(count(founder.state) == 2)
        founder.state = try founder.state.removing(other.id, keeping: [], by: founder.key, now: 0)
        #expect(count(founder.state) == 1)
        try guest.meet(&founder)
        #expect(count(guest.state) == 1 && guest.state.isCurrent)
    }
}
