import HandoffAccount
import HandoffCrypto
import HandoffModel
import HandoffPeers
import HandoffProtocol
import HandoffState
import Testing

@Suite struct PeerRecordsTests {
    private let now = MonotonicInstant(nanoseconds: 1_000_000_000)
    private let desk: SigningKey
    private let (couch, train): (PublicKey, PublicKey)
    private let account: AccountState
    private let table = PeerRecords()

    init() throws {
        desk = try SigningKey()
        (couch, train) = (try SigningKey().publicKey, try SigningKey().publicKey)
        account = try AccountState.creating(device: desk, name: "desk", now: 1).pairing(couch, name: "couch", by: desk)
        table.accountChanged(snapshot(account))
    }

    private func snapshot(_ state: AccountState) -> AccountSnapshot {
        AccountSnapshot(own: DeviceID(desk.publicKey), state: state)
    }

    @Test func `identities that anyone can create share one budget`() throws {
        let members = [DeviceID(desk.publicKey), DeviceID(couch)]
        for _ in 0..<1000 { _ = table.admitAdvert(of: members[0], at: now) }
        #expect(table.admitAdvert(of: members[1], at: now))

        let (stranger, another) = (DeviceID(train), DeviceID(try SigningKey().publicKey))
        for _ in 0..<1000 { _ = table.admitAdvert(of: stranger, at: now) }
        #expect(!table.admitAdvert(of: another, at: now))
        #expect(table.admitAdvert(of: members[1], at: now))
    }

    @Test func `only the shared budget is kept for an unknown device`() {
        let stranger = DeviceID(train)
        table.heard(stranger, at: now)
        table[stranger].trouble = "refused"
        #expect(table[stranger].heard == nil)
        #expect(table[stranger].trouble == nil)
        #expect(!table.noteKeyProof(stranger, in: snapshot(account)))
        #expect(table.holders.isEmpty)
    }

    @Test func `a member that has proved the key is its holder until the next key`() throws {
        let device = DeviceID(couch)
        #expect(table.noteKeyProof(device, in: snapshot(account)))
        #expect(!table.noteKeyProof(device, in: snapshot(account)))
        #expect(table.holders == [device])
        table[device].isInSameEpoch = true
        table.accountChanged(snapshot(account))
        #expect(table[device].isInSameEpoch)

        let rotated = snapshot(try account.makingEpoch(by: desk, now: 2))
        table.accountChanged(rotated)
        #expect(table.holders.isEmpty)
        #expect(!table[device].isInSameEpoch)
        #expect(table.noteKeyProof(device, in: rotated))
    }

    @Test func `a member that has left is forgotten`() throws {
        let device = DeviceID(couch)
        table.heard(device, at: now)
        table[device].trouble = "cut"
        table.accountChanged(snapshot(try account.removing(device, keeping: [], by: desk, now: 2)))
        #expect(table[device].heard == nil)
        table.accountChanged(snapshot(account))
        #expect(table[device].heard == nil)
        #expect(table[device].trouble == nil)
    }
}
