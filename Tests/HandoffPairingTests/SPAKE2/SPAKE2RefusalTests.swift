import HandoffCrypto
import HandoffModel
import HandoffPairing
import Testing

/// SPAKE2 rejects everything but the other side of the same exchange.
@Suite struct SPAKE2RefusalTests {
    private let identities = SPAKE2Identities(a: Array("a".utf8), b: Array("b".utf8), additionalData: [1, 2, 3])
    private let a: SPAKE2
    private let b: SPAKE2

    init() throws {
        let w = try PairingSamples.scalar(7)
        a = try SPAKE2(role: .a, password: w, identities: identities)
        b = try SPAKE2(role: .b, password: w, identities: identities)
    }

    /// Returns whether either accepts the other's confirmation. It must not be accepted by one side
    /// only.
    private func agree(_ a: SPAKE2, _ b: SPAKE2) throws -> Bool {
        let ofA = try #require(try a.keys(for: b.share))
        let ofB = try #require(try b.keys(for: a.share))
        let acceptsB = ofA.isConfirmed(by: ofB.confirmation)
        let acceptsA = ofB.isConfirmed(by: ofA.confirmation)
        #expect(acceptsA == acceptsB)
        #expect((ofA.sharedKey == ofB.sharedKey) == acceptsA || a.share == b.share)
        return acceptsA || acceptsB
    }

    @Test func `the same exchange agrees`() throws {
        #expect(try agree(a, b))
    }

    @Test func `a point off the curve is rejected`() throws {
        var share = b.share
        share[64] ^= 1
        #expect(try a.keys(for: share) == nil)
        #expect(try b.keys(for: share) == nil)
    }

    @Test func `a coordinate beyond the field is rejected`() throws {
        let share = [4] + [UInt8](repeating: 0xFF, count: 32) + b.share.suffix(32)
        #expect(try a.keys(for: Array(share)) == nil)
    }

    @Test func `infinity is rejected`() throws {
        #expect(try a.keys(for: [0]) == nil)
        #expect(try a.keys(for: [UInt8](repeating: 0, count: 65)) == nil)
        #expect(try a.keys(for: [4] + [UInt8](repeating: 0, count: 64)) == nil)
    }

    @Test
    func `a share that gives infinity when unblinded is answered like any other, and nothing confirms it`() throws {
        // A peer that guesses the code can send it, and must not learn whether the guess was right
        // without a confirmation.
        let blind = try PairingSamples.blindAlone(.b, PairingSamples.scalar(7), identities)
        let first = try #require(try a.keys(for: blind))
        let second = try #require(try a.keys(for: blind))
        #expect(first.sharedKey != second.sharedKey)
        #expect(!first.isConfirmed(by: second.confirmation))
        #expect(!second.isConfirmed(by: try #require(try b.keys(for: a.share)).confirmation))
    }

    @Test func `a compressed point is rejected`() throws {
        let sign: UInt8 = b.share[64] & 1
        #expect(try a.keys(for: [2 | sign] + b.share[1...32]) == nil)
    }

    @Test func `a hybrid point is rejected`() throws {
        let sign: UInt8 = b.share[64] & 1
        #expect(try a.keys(for: [6 | sign] + b.share.dropFirst()) == nil)
    }

    @Test(arguments: [0, 1, 33, 64, 66])
    func `another length is rejected`(_ count: Int) throws {
        let share = Array((b.share + [0]).prefix(count))
        #expect(try a.keys(for: share) == nil)
    }

    @Test func `other additional data does not agree`() throws {
        let other = SPAKE2Identities(a: identities.a, b: identities.b, additionalData: [1, 2, 4])
        let b = try SPAKE2(role: .b, password: PairingSamples.scalar(7), identities: other)
        let ofA = try #require(try a.keys(for: b.share))
        let ofB = try #require(try b.keys(for: a.share))
        // RFC 9382 binds it only to the confirmations: the shared key must not be used before they
        // are verified.
        #expect(!ofA.isConfirmed(by: ofB.confirmation))
        #expect(!ofB.isConfirmed(by: ofA.confirmation))
    }

    @Test func `another password does not agree`() throws {
        let b = try SPAKE2(role: .b, password: PairingSamples.scalar(8), identities: identities)
        #expect(try !agree(a, b))
    }

    @Test func `swapped identities do not agree`() throws {
        let swapped = SPAKE2Identities(a: identities.b, b: identities.a, additionalData: identities.additionalData)
        let b = try SPAKE2(role: .b, password: PairingSamples.scalar(7), identities: swapped)
        #expect(try !agree(a, b))
    }

    @Test
    func `identities that are the same bytes split elsewhere do not agree`() throws {
        let first = SPAKE2Identities(a: [1, 2], b: [3], additionalData: [])
        let second = SPAKE2Identities(a: [1], b: [2, 3], additionalData: [])
        let w = try PairingSamples.scalar(7)
        let a = try SPAKE2(role: .a, password: w, identities: first)
        let b = try SPAKE2(role: .b, password: w, identities: second)
        #expect(try !agree(a, b))
    }

    @Test(arguments: [SPAKE2Role.a, .b])
    func `two sides with the same role do not agree`(_ role: SPAKE2Role) throws {
        let w = try PairingSamples.scalar(7)
        let first = try SPAKE2(role: role, password: w, identities: identities)
        let second = try SPAKE2(role: role, password: w, identities: identities)
        let ofFirst = try #require(try first.keys(for: second.share))
        let ofSecond = try #require(try second.keys(for: first.share))
        #expect(!ofFirst.isConfirmed(by: ofSecond.confirmation))
        #expect(!ofSecond.isConfirmed(by: ofFirst.confirmation))
    }

    @Test
    func `a side that receives its own share and confirmation does not accept them`() throws {
        for side in [a, b] {
            let keys = try #require(try side.keys(for: side.share))
            #expect(!keys.isConfirmed(by: keys.confirmation))
        }
    }

    @Test(arguments: [0, 1, 16, 31, 33])
    func `a confirmation of another length is wrong`(_ count: Int) throws {
        let ofA = try #require(try a.keys(for: b.share))
        let ofB = try #require(try b.keys(for: a.share))
        #expect(!ofA.isConfirmed(by: Array((ofB.confirmation + [0]).prefix(count))))
    }

    @Test func `every byte of a confirmation counts`() throws {
        let ofA = try #require(try a.keys(for: b.share))
        let ofB = try #require(try b.keys(for: a.share))
        for index in ofB.confirmation.indices {
            var wrong = ofB.confirmation
            wrong[index] ^= 0x80
            #expect(!ofA.isConfirmed(by: wrong))
        }
    }

    @Test
    func `the same code in a second exchange gives other shares, keys and confirmations`() throws {
        let w = try PairingSamples.scalar(7)
        let again = try SPAKE2(role: .a, password: w, identities: identities)
        #expect(again.share != a.share)
        let first = try #require(try a.keys(for: b.share))
        let second = try #require(try again.keys(for: b.share))
        #expect(first.sharedKey != second.sharedKey)
        #expect(first.confirmation != second.confirmation)
        // A recorded confirmation is worthless in the next exchange.
        let ofB = try #require(try b.keys(for: again.share))
        #expect(!ofB.isConfirmed(by: first.confirmation))
    }
}
