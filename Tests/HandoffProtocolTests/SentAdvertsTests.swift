import HandoffModel
import HandoffProtocol
import Testing

@Suite struct SentAdvertsTests {
    private let position = Position(generation: 50, seq: 3)

    private func salt(_ number: UInt8) -> [UInt8] { [UInt8](repeating: number, count: 16) }

    /// Returns an acknowledgement whose code is the salt itself.
    private func acknowledgement(_ device: UInt8, seq: UInt32 = 3, salt number: UInt8) throws -> Acknowledgement {
        Acknowledgement(
            deviceID: try Samples.device(device), position: Position(generation: 50, seq: seq), host: salt(0)
        ) { _ in salt(number) }
    }

    /// A class, because `#expect` does not accept a mutating call.
    private final class History {
        var sent = SentAdverts()

        func take(_ acknowledgement: Acknowledgement) -> PeerAddress? {
            sent.take(acknowledgement) { $0 == acknowledgement.code }
        }
    }

    @Test func `each datagram proves its destination address once`() throws {
        let history = History()
        let device = try Samples.device(1)
        for host in [UInt8(1), 2] {
            history.sent.note(position, to: device, at: try Samples.address(host), salt: salt(host))
        }
        #expect(try history.take(acknowledgement(1, salt: 2)) == Samples.address(2))
        #expect(try history.take(acknowledgement(1, salt: 2)) == nil)
        #expect(try history.take(acknowledgement(1, salt: 1)) == Samples.address(1))
    }

    @Test func `another device, another position or an unknown salt matches no datagram`() throws {
        let history = History()
        history.sent.note(position, to: try Samples.device(1), at: try Samples.address(1), salt: salt(1))
        #expect(try history.take(acknowledgement(2, salt: 1)) == nil)
        #expect(try history.take(acknowledgement(1, seq: 2, salt: 1)) == nil)
        #expect(try history.take(acknowledgement(1, salt: 9)) == nil)
        #expect(try history.take(acknowledgement(1, salt: 1)) == Samples.address(1))
    }

    @Test func `the oldest datagram to a device is removed first, and all of a non-member`() throws {
        let history = History()
        let (device, other) = (try Samples.device(1), try Samples.device(2))
        for number in 0...UInt8(SentAdverts.maxCount) {
            history.sent.note(position, to: device, at: try Samples.address(1), salt: salt(number))
        }
        history.sent.note(position, to: other, at: try Samples.address(2), salt: salt(1))
        #expect(try history.take(acknowledgement(1, salt: 0)) == nil)
        #expect(try history.take(acknowledgement(1, salt: 1)) == Samples.address(1))
        history.sent.retain([other])
        #expect(try history.take(acknowledgement(1, salt: 2)) == nil)
        #expect(try history.take(acknowledgement(2, salt: 1)) == Samples.address(2))
    }
}
