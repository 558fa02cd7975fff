import HandoffAccount
import HandoffModel
import HandoffPeers
import Testing

/// The salts that are remembered, and their expiration.
@Suite struct EchoesTests {
    private static let start = MonotonicInstant(nanoseconds: 1_000_000_000)
    private var echoes = Echoes()
    private let party = PairwiseSecret(.keyHolder)

    private static func salt(_ number: Int) -> [UInt8] { [UInt8](repeating: UInt8(number), count: 16) }

    private func echoed(at now: MonotonicInstant) -> [[UInt8]] {
        echoes.salts(at: now).first { $0.secret == party }?.salts ?? []
    }

    @Test mutating func `a salt of this device counts for ten minutes`() {
        echoes.sealed(Self.salt(1), at: Self.start)
        #expect(echoes.ownSalts(at: Self.start + .seconds(599)) == [Self.salt(1)])
        #expect(echoes.ownSalts(at: Self.start + .seconds(600)) == [])
        #expect(echoes.expiry(of: Self.salt(1)) == Self.start + .seconds(600))
        #expect(echoes.expiry(of: Self.salt(2)) == nil)
    }

    @Test mutating func `only the last salts of this device are remembered`() {
        for number in 0..<100 { echoes.sealed(Self.salt(number), at: Self.start) }
        #expect(echoes.ownSalts(at: Self.start) == (100 - Echoes.maxOwn..<100).map(Self.salt))
    }

    @Test mutating func `the newest four salts of a party are echoed for ten minutes`() {
        for number in 1...6 { echoes.note(Self.salt(number), of: party, at: Self.start + .seconds(number)) }
        #expect(echoed(at: Self.start + .seconds(6)) == [6, 5, 4, 3].map(Self.salt))
        // A repeated salt is not new, and does not become newer.
        let isNew = echoes.note(Self.salt(3), of: party, at: Self.start + .seconds(9))
        #expect(!isNew)
        #expect(echoed(at: Self.start + .seconds(9)) == [6, 5, 4, 3].map(Self.salt))
        #expect(echoed(at: Self.start + .seconds(604)) == [6, 5].map(Self.salt))
    }

    @Test mutating func `a party whose clock agrees needs no echo`() {
        echoes.note(Self.salt(1), of: party, at: Self.start)
        echoes.note(Self.salt(2), of: PairwiseSecret(.keyHolder, isIntroduction: true), at: Self.start)
        echoes.forget(party)
        #expect(echoes.salts(at: Self.start).map(\.secret.isIntroduction) == [true])
        echoes.retain { !$0.isIntroduction }
        #expect(echoes.salts(at: Self.start).isEmpty)
    }
}
