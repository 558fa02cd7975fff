import HandoffModel
import HandoffProtocol
import Testing

@Suite struct SentAdvertsTests {
    private let position = Position(generation: 50, seq: 3)

    private func salt(_ number: UInt8) -> [UInt8] { [UInt8](repeating: number, count: 16) }

    /// A class, because `#expect` does not accept a mutating call.
    private final class History {
        var sent = SentAdverts()

        func take(seq: UInt32 = 3, salt: [UInt8]) -> PeerAddress? {
            sent.take(Position(generation: 50, seq: seq)) { $0 == salt }
        }
    }

    @Test func `each datagram proves its destination address once`() throws {
        let history = History()
        for host in [UInt8(1), 2] {
            history.sent.note(position, at: try Samples.address(host), salt: salt(host))
        }
        #expect(try history.take(salt: salt(2)) == Samples.address(2))
        #expect(history.take(salt: salt(2)) == nil)
        #expect(try history.take(salt: salt(1)) == Samples.address(1))
    }

    @Test func `another position or an unknown salt matches no datagram`() throws {
        let history = History()
        history.sent.note(position, at: try Samples.address(1), salt: salt(1))
        #expect(history.take(seq: 2, salt: salt(1)) == nil)
        #expect(history.take(salt: salt(9)) == nil)
        #expect(try history.take(salt: salt(1)) == Samples.address(1))
    }

    @Test func `the oldest datagram is removed first`() throws {
        let history = History()
        for number in 0...UInt8(SentAdverts.maxCount) {
            history.sent.note(position, at: try Samples.address(1), salt: salt(number))
        }
        #expect(history.take(salt: salt(0)) == nil)
        #expect(try history.take(salt: salt(1)) == Samples.address(1))
    }
}
