import HandoffAccount
import HandoffCrypto
import HandoffModel
import Testing

@testable import HandoffPairing

/// A joiner checks the account before it stores it.
@Suite struct PairedAccountTests {
    private let joiner: DeviceID
    private let inviter: PairingPeer
    private let account: AccountState
    private let key: SecretBytes

    init() throws {
        joiner = DeviceID(try PairingSamples.joinerKey().publicKey)
        inviter = PairingPeer(publicKey: try PairingSamples.inviterKey().publicKey, name: "first")
        account = try PairingSamples.account()
        key = try #require(account.accountKey)
    }

    private func paired(
        _ account: AccountState, key: SecretBytes? = nil, epoch: UInt64 = 1
    ) -> PairedAccount {
        PairedAccount(epoch: epoch, accountKey: key ?? self.key, statements: account.roster.encoded())
    }

    @Test func `the right account is accepted`() throws {
        let state = try paired(account).state(for: joiner, inviter: inviter, now: 0)
        #expect(state.isCurrent && state.view.isLive(joiner))
    }

    @Test func `an account that does not admit the joiner is rejected`() throws {
        let other = try PairingSamples.account(admitting: false)
        let key = try #require(other.accountKey)
        #expect(throws: AccountError.notLive(joiner)) {
            try paired(other, key: key).state(for: joiner, inviter: inviter, now: 0)
        }
    }

    @Test func `an inviter that is not a member is rejected`() throws {
        let unknown = PairingPeer(publicKey: try PairingSamples.key(0xC3).publicKey, name: "first")
        #expect(throws: AccountError.notLive(unknown.device)) {
            try paired(account).state(for: joiner, inviter: unknown, now: 0)
        }
    }

    @Test func `another key or epoch is rejected`() throws {
        let other = SecretBytes(copying: [UInt8](repeating: 1, count: 32))
        #expect(throws: AccountError.wrongKey) {
            try paired(account, key: other).state(for: joiner, inviter: inviter, now: 0)
        }
        #expect(throws: AccountError.wrongKey) {
            try paired(account, epoch: 2).state(for: joiner, inviter: inviter, now: 0)
        }
    }

    @Test func `statements that are not genuine are rejected`() throws {
        var statements = account.roster.encoded()
        statements[statements.count - 1] ^= 1
        let paired = PairedAccount(epoch: 1, accountKey: key, statements: statements)
        #expect(throws: StatementError.self) { try paired.state(for: joiner, inviter: inviter, now: 0) }
        let none = PairedAccount(epoch: 1, accountKey: key, statements: [])
        #expect(throws: StatementError.noFounder) { try none.state(for: joiner, inviter: inviter, now: 0) }
    }
}
