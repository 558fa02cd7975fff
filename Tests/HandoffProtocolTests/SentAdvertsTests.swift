import HandoffModel
import HandoffProtocol
import Testing

@Suite struct SentAdvertsTests {
    private let position = Position(boot: 50, seq: 3)

    private func salt(_ number: UInt8) -> [UInt8] { [UInt8](repeating: number, count: 16) }

    /// The code is the salt itself.
    private func acknowledgement(_ device: UInt8, seq: UInt32 = 3, salt number: UInt8) throws -> Acknowledgement {
        Acknowledgement(
            deviceID: try Samples.device(device), position: Position(boot: 50, seq: seq), host: salt(0)
        ) { _ in salt(number) }
    }

    /// A class, since `#expect` takes no mutating call.
    private final class Book {
        var sent = SentAdverts()

        func take(_ acknowledgement: Acknowledgement) -> PeerAddress? {
            sent.take(acknowledgement) { $0 == acknowledgement.code }
        }
    }

    @Test func `each datagram stands for the address that it was sent to, once`() throws {
        let book = Book()
        let device = try Samples.device(1)
        for host in [UInt8(1), 2] {
            book.sent.note(position, to: device, at: try Samples.address(host), salt: salt(host))
        }
        #expect(try book.take(acknowledgement(1, salt: 2)) == Samples.address(2))
        #expect(try book.take(acknowledgement(1, salt: 2)) == nil)
        #expect(try book.take(acknowledgement(1, salt: 1)) == Samples.address(1))
    }

    @Test func `another device, another position or an unknown salt fits no datagram`() throws {
        let book = Book()
        book.sent.note(position, to: try Samples.device(1), at: try Samples.address(1), salt: salt(1))
        #expect(try book.take(acknowledgement(2, salt: 1)) == nil)
        #expect(try book.take(acknowledgement(1, seq: 2, salt: 1)) == nil)
        #expect(try book.take(acknowledgement(1, salt: 9)) == nil)
        #expect(try book.take(acknowledgement(1, salt: 1)) == Samples.address(1))
    }

    @Test func `the oldest datagram to a device is forgotten first, and all of a device that is no member`() throws {
        let book = Book()
        let (device, other) = (try Samples.device(1), try Samples.device(2))
        for number in 0...UInt8(SentAdverts.maxCount) {
            book.sent.note(position, to: device, at: try Samples.address(1), salt: salt(number))
        }
        book.sent.note(position, to: other, at: try Samples.address(2), salt: salt(1))
        #expect(try book.take(acknowledgement(1, salt: 0)) == nil)
        #expect(try book.take(acknowledgement(1, salt: 1)) == Samples.address(1))
        book.sent.retain([other])
        #expect(try book.take(acknowledgement(1, salt: 2)) == nil)
        #expect(try book.take(acknowledgement(2, salt: 1)) == Samples.address(2))
    }
}
