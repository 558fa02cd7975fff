import HandoffCrypto
import HandoffTestSupport
import LoopIO
import Testing

@testable import HandoffStreams

/// A stream whose app shares memory.
@Suite(.timeLimit(.minutes(5))) struct SharedMemoryTests {
    @Test(arguments: [true, false]) func `bytes flow both ways and directions end separately`(isServer: Bool) throws {
        let fixture = try StreamFixture.open(isServer: isServer)
        let app = try MemoryApp(fixture)
        #expect(app.outcome == .shared(received: 0))
        try app.write(pattern(1000))
        #expect(try fixture.far.data(1000) == pattern(1000))
        try fixture.far.send(data: pattern(2000))
        #expect(try app.read(2000) == pattern(2000))
        try fixture.far.send(.end)
        #expect(try app.rest() == [])
        #expect(try app.isAtEnd)
        try app.write([1, 2, 3])
        #expect(try fixture.far.data(3) == [1, 2, 3])
        #expect(fixture.events.waiting == [])
        app.end()
        #expect(try fixture.far.word() == .end)
        #expect(try fixture.ended() == StreamReport(end: .ended, sent: 1003, received: 2000))
        #expect(try fixture.far.ending() == .closed)
    }

    @Test func `many times the size of the ring passes, in pieces of any size`() throws {
        let fixture = try StreamFixture.open()
        let app = try MemoryApp(fixture)
        for size in [1, 100, 4095, 4096, 4097, 20_000, 33_333, 48_000, 60_000, 7, 61_111] {
            try app.write(pattern(size, from: size))
            #expect(try fixture.far.data(size) == pattern(size, from: size))
            // Two frames together, the second of which starts in the middle of a record.
            try fixture.far.send(
                FarSide.frame(.data(size), pattern(size, from: size)) + FarSide.frame(.data(3), [1, 2, 3]))
            #expect(try app.read(size + 3) == pattern(size, from: size) + [1, 2, 3])
        }
    }

    @Test func `bytes written to the socket come first`() throws {
        let fixture = try StreamFixture.open()
        try fixture.far.send(data: [1, 2])
        #expect(try fixture.app.read(1) == [1])
        try fixture.app.write([5])
        #expect(try fixture.far.data(1) == [5])
        // This may not have been processed yet.
        try fixture.app.write([6, 7])
        let app = try MemoryApp(fixture, position: 3)
        #expect(app.outcome == .shared(received: 2))
        #expect(try fixture.app.read(1) == [2])
        try app.write([8])
        #expect(try fixture.far.data(3) == [6, 7, 8])
        try fixture.far.send(data: [3])
        #expect(try app.read(1) == [3])
    }

    @Test func `a passed position and a second memory are refused and change nothing`() throws {
        let fixture = try StreamFixture.open()
        try fixture.app.write([5, 6])
        #expect(try fixture.far.data(2) == [5, 6])
        #expect(try MemoryApp(fixture, position: 1).outcome == .positionPassed(2))
        let app = try MemoryApp(fixture, position: 2)
        #expect(app.outcome == .shared(received: 0))
        #expect(try MemoryApp(fixture, position: 2).outcome == .failed("it already shares memory"))
        try app.write([7])
        #expect(try fixture.far.data(1) == [7])
    }

    @Test func `a slow app slows the other side down, and loses nothing when that side closes`() throws {
        let fixture = try StreamFixture.open()
        let app = try MemoryApp(fixture)
        let bytes = pattern(150_000)
        try fixture.far.send(data: bytes)
        try fixture.far.send(.end)
        try fixture.far.close()
        fixture.far.socket.endWriting()
        fixture.settle(turns: 20)
        #expect(fixture.events.waiting == [])
        #expect(try app.rest() == bytes)
        #expect(try app.isAtEnd)
    }

    @Test func `an app that closes has sent what it wrote before`() throws {
        let fixture = try StreamFixture.open()
        let app = try MemoryApp(fixture)
        try app.write(pattern(30_000))
        fixture.app.close()
        #expect(try fixture.far.data(30_000) == pattern(30_000))
        #expect(try fixture.far.word() == .end)
        #expect(try fixture.far.word() == .reset(.cancelled))
        #expect(try fixture.ended().end == .resetHere(.cancelled))
    }

    /// The other side reads nothing, so the app's bytes cannot be sent.
    @Test(arguments: [0, 1 << 40] as [UInt64])
    func `an app that closes is detected while nothing can be sent`(position: UInt64) throws {
        let fixture = try StreamFixture.open()
        let app = try MemoryApp(fixture, position: position)
        var idleTurns = 0
        while idleTurns < 20 {
            let count = try position == 0 ? app.writeSome(pattern(10_000)) : fixture.app.writeSome(pattern(10_000)[...])
            idleTurns = count > 0 ? 0 : idleTurns + 1
            fixture.settle()
        }
        fixture.app.close()
        fixture.settle(turns: 20)
        fixture.clock.advance(by: .seconds(59))
        fixture.settle()
        #expect(fixture.events.waiting == [])
        fixture.clock.advance(by: .seconds(1))
        #expect(try fixture.ended().end == .resetHere(.cancelled))
    }

    @Test func `an app that breaks the rules loses its stream`() throws {
        let fixture = try StreamFixture.open()
        let app = try MemoryApp(fixture)
        app.claim(written: 64 * 1024 + 1)
        #expect(try fixture.ended().end == .resetHere(.cancelled))
        #expect(try fixture.far.word() == .reset(.cancelled))
    }

    @Test func `a file is sent between bytes of the memory`() throws {
        let fixture = try StreamFixture.open()
        let app = try MemoryApp(fixture)
        let file = try TestFile.regular(pattern(5000))
        let events = Mailbox<FilePart.Event>()
        let part = FilePart(direction: .send, position: 2, length: 5000, file: file.passed)
        fixture.handle.pass(part) { events.put($0) }
        #expect(try events.next() == .moved(0))
        try app.write([1, 2, 3])
        #expect(try fixture.far.data(5003) == [1, 2] + pattern(5000) + [3])
    }

    @Test func `a stream that is not accepted keeps its memory for the next connection`() throws {
        let fixture = try StreamFixture(isServer: false)
        try fixture.attach()
        _ = try fixture.far.read(16)
        let app = try MemoryApp(fixture)
        fixture.far.socket.close()
        guard case .untaken(let socket, _) = try fixture.events.next() else { throw Errno.invalidArgument }
        try app.write([5])
        let (near, far) = try FarSide.connected(nearIsServer: false)
        let next = StreamHandle(near, greeting: .show(ticket: StreamFixture.ticket), on: fixture.streamLoop) { _ in }
        next.attach(socket)
        #expect(try far.read(16 + 5) == StreamFixture.ticket + FarSide.frame(.data(1), [5]))
        try far.send(data: [7])
        #expect(try app.read(1) == [7])
    }
}
