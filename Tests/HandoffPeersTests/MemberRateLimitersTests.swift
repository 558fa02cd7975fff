import HandoffModel
import HandoffPeers
import HandoffProtocol
import Testing
import Timing

@Suite struct MemberRateLimitersTests {
    private let now = MonotonicInstant(nanoseconds: 1_000_000_000)

    private func device(_ number: UInt8) throws -> DeviceID {
        try #require(DeviceID(bytes: [UInt8](repeating: number, count: DeviceID.byteCount)))
    }

    @Test func `identities that cost nothing share one budget`() throws {
        let budgets = MemberRateLimiters()
        let (one, other) = (try device(1), try device(2))
        budgets.retain([one, other])
        for _ in 0..<1000 { _ = budgets.admitAdvert(of: one, at: now) }
        #expect(budgets.admitAdvert(of: other, at: now))

        let (stranger, another) = (try device(3), try device(4))
        for _ in 0..<1000 { _ = budgets.admitAdvert(of: stranger, at: now) }
        #expect(!budgets.admitAdvert(of: another, at: now))
        #expect(budgets.admitAdvert(of: other, at: now))
    }
}
