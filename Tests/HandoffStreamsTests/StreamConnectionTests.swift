import Glibc
import HandoffCrypto
import HandoffTestSupport
import LoopIO
import Testing

@testable import HandoffStreams

/// Bytes between an app and another device.
@Suite(.timeLimit(.minutes(5))) struct StreamConnectionTests {
    @Test(arguments: [true, false]) func `bytes flow both ways and directions end separately`(isServer: Bool) throws {
        let fixture = try StreamFixture.open(isServer: isServer)
        try fixture.app.write(pattern(1000))
        #expect(try fixture.far.data(1000) == pattern(1000))
        try fixture.far.send(data: pattern(2000))
        #expect(try fixture.app.read(2000) == pattern(2000))

        try fixture.far.send(.end)
        #expect(try fixture.app.rest() == [])
        try fixture.app.write([1, 2, 3])
        #expect(try fixture.far.data(3) == [1, 2, 3])
        #expect(fixture.events.waiting == [])
        fixture.app.endWriting()
        #expect(try fixture.far.word() == .end)
        #expect(try fixture.ended() == StreamReport(end: .ended, sent: 1003, received: 2000))
        #expect(try fixture.far.ending() == .closed)
        try fixture.far.close()
        fixture.far.socket.close()
        try fixture.awaitRelease()
    }

    @Test func `the local direction may end first`() throws {
        let fixture = try StreamFixture.open()
        fixture.app.endWriting()
        #expect(try fixture.far.word() == .end)
        try fixture.far.send(data: pattern(100))
        #expect(try fixture.app.read(100) == pattern(100))
        try fixture.far.send(.end)
        #expect(try fixture.app.rest() == [])
        #expect(try fixture.ended().end == .ended)
        #expect(try fixture.far.ending() == .closed)
    }

    @Test func `bytes that the app has not read stay buffered`() throws {
        let fixture = try StreamFixture.open()
        fixture.app.endWriting()
        try fixture.far.send(FarSide.frame(.data(1000), pattern(1000)) + FarSide.frame(.end))
        try fixture.far.close()
        fixture.far.socket.close()
        #expect(try fixture.ended().end == .ended)
        try fixture.awaitRelease()
        #expect(try fixture.app.rest() == pattern(1000))
    }

    @Test func `after a normal end a close notify of the other side is enough`() throws {
        let fixture = try StreamFixture.open()
        fixture.app.endWriting()
        try fixture.far.send(.end)
        #expect(try fixture.ended().end == .ended)
        try fixture.far.close()
        // No FIN: the connection is closed because TLS has ended.
        try fixture.awaitRelease()
    }

    @Test(arguments: StreamReset.allCases) func `a reset is sent and ends the stream`(reset: StreamReset) throws {
        let fixture = try StreamFixture.open()
        try fixture.app.write([1])
        #expect(try fixture.far.data(1) == [1])
        fixture.handle.reset(reset)
        #expect(try fixture.ended() == StreamReport(end: .resetHere(reset), sent: 1, received: 0))
        #expect(try fixture.far.word() == .reset(reset))
        #expect(try fixture.far.ending() == .closed)
        #expect(try fixture.app.rest() == [])
        fixture.handle.reset(.idle)
        // A peer that does not close TLS is not awaited.
        fixture.clock.advance(by: .seconds(5))
        try fixture.awaitRelease()
        #expect(fixture.events.waiting == [])
    }

    @Test(arguments: StreamReset.allCases) func `a reset of the other side is reported`(reset: StreamReset) throws {
        let fixture = try StreamFixture.open()
        try fixture.far.send(FarSide.frame(.data(2), [5, 6]) + FarSide.frame(.reset(reset)) + FarSide.bytes(9))
        #expect(try fixture.ended() == StreamReport(end: .resetThere(reset), sent: 0, received: 2))
        #expect(try fixture.app.rest() == [5, 6])
        try fixture.awaitRelease()
    }

    @Test(arguments: [0, 7, 200, 255] as [UInt32]) func `an unknown code is a reset, too`(code: UInt32) throws {
        let fixture = try StreamFixture.open()
        try fixture.far.send(FarSide.bytes(0xFFFF_FF00 + code))
        #expect(try fixture.ended().end == .resetThere(.unknown))
        try fixture.awaitRelease()
    }

    @Test func `a reset may come after the end`() throws {
        let fixture = try StreamFixture.open()
        try fixture.far.send(.end)
        #expect(try fixture.app.rest() == [])
        try fixture.far.send(.reset(.failed))
        #expect(try fixture.ended().end == .resetThere(.failed))
    }

    @Test(arguments: [0x0010_0001, 0x8000_0000, 0xFFFF_FEFF] as [UInt32])
    func `an invalid word ends it`(word: UInt32) throws {
        let fixture = try StreamFixture.open()
        try fixture.far.send(FarSide.frame(.data(2), [5, 6]) + FarSide.bytes(word))
        #expect(try fixture.ended().end == .gone("the other side violated the protocol"))
        #expect(try fixture.app.rest() == [5, 6])
        try fixture.awaitRelease()
    }

    @Test(arguments: [StreamWord.end, .data(1)]) func `nothing but a reset follows the end`(word: StreamWord) throws {
        let fixture = try StreamFixture.open()
        try fixture.far.send(.end)
        try fixture.far.send(word, [1])
        #expect(try fixture.ended().end == .gone("the other side violated the protocol"))
        try fixture.awaitRelease()
    }

    @Test(arguments: [0, 2, 4, 5], [true, false]) func `a cut frame is an error`(count: Int, isOrderly: Bool) throws {
        let fixture = try StreamFixture.open()
        if count > 0 { try fixture.far.send(Array(FarSide.frame(.data(4), [1, 2, 3, 4]).prefix(count))) }
        if isOrderly { try fixture.far.close() } else { fixture.far.socket.endWriting() }
        let report = try fixture.ended()
        #expect(report.end.isGone)
        #expect(report.received == UInt64(max(0, count - 4)))
        try fixture.awaitRelease()
    }

    @Test func `a cut after one direction has ended is an error`() throws {
        let fixture = try StreamFixture.open()
        try fixture.far.send(.end)
        try fixture.far.close()
        #expect(try fixture.ended().end.isGone)
        #expect(try fixture.app.rest() == [])
        try fixture.awaitRelease()
    }

    @Test func `modified ciphertext ends it`() throws {
        let fixture = try StreamFixture.open()
        try fixture.far.send(data: [1, 2, 3])
        #expect(try fixture.app.read(3) == [1, 2, 3])
        try fixture.far.socket.write([23, 3, 3, 0, 20] + pattern(20))
        #expect(try fixture.ended().end.isGone)
        try fixture.awaitRelease()
    }

    @Test func `an hour without bytes ends it`() throws {
        let fixture = try StreamFixture.open()
        fixture.clock.advance(by: .seconds(3599))
        fixture.settle()
        try fixture.far.send(data: [1])
        #expect(try fixture.app.read(1) == [1])
        fixture.settle()
        fixture.clock.advance(by: .seconds(3599))
        fixture.settle()
        #expect(fixture.events.waiting == [])
        fixture.clock.advance(by: .seconds(1))
        #expect(try fixture.ended().end == .resetHere(.idle))
        #expect(try fixture.far.word() == .reset(.idle))
    }

    @Test(arguments: [true, false]) func `an app that closes is reported immediately`(hasEnded: Bool) throws {
        let fixture = try StreamFixture.open()
        try fixture.app.write([1, 2, 3])
        if hasEnded { fixture.app.endWriting() }
        #expect(try fixture.far.data(3) == [1, 2, 3])
        if hasEnded { #expect(try fixture.far.word() == .end) }
        fixture.settle()
        fixture.app.close()
        #expect(try fixture.ended().end == .resetHere(.cancelled))
        if !hasEnded { #expect(try fixture.far.word() == .end) }
        #expect(try fixture.far.word() == .reset(.cancelled))
        #expect(try fixture.far.ending() == .closed)
    }

    @Test func `everything an app wrote before it closed is sent`() throws {
        let fixture = try StreamFixture.open()
        let bytes = pattern(300_000)
        try fixture.far.send(data: bytes)
        try fixture.far.send(.end)
        try fixture.far.send(.reset(.cancelled))
        // More than the app's socket accepts. The rest waits, and so does the stream.
        #expect(try same(fixture.app.read(bytes.count)[...], bytes[...]))
        #expect(try fixture.app.rest() == [])
        #expect(try fixture.ended().end == .resetThere(.cancelled))
    }

    @Test func `an app that closes after both directions have ended ends it normally`() throws {
        let fixture = try StreamFixture.open()
        try fixture.far.send(.end)
        #expect(try fixture.app.rest() == [])
        try fixture.app.write([1, 2, 3])
        fixture.app.close()
        #expect(try fixture.far.data(3) == [1, 2, 3])
        #expect(try fixture.far.word() == .end)
        #expect(try fixture.ended().end == .ended)
    }

    @Test func `an app that closes with unread bytes resets the stream`() throws {
        let fixture = try StreamFixture.open()
        try fixture.far.send(data: [1])
        try fixture.app.wait(POLLIN)
        fixture.app.close()
        #expect(try fixture.ended().end == .resetHere(.cancelled))
        #expect(try fixture.far.word() == .reset(.cancelled))
        #expect(try fixture.far.ending() == .closed)
    }

    @Test func `a reader that stops pauses the writer`() throws {
        let fixture = try StreamFixture.open()
        let bytes = pattern(24 << 20)
        // The app does not read. The far side stops after the kernel's buffers and a chunk or two.
        let (position, wire) = try fixture.sendWhatIsTaken(bytes)
        #expect(position < bytes.count)
        // It continues when the app does.
        #expect(try same(fixture.app.read(position - 100_000)[...], bytes[..<(position - 100_000)]))
        try fixture.far.socket.write(wire)
        #expect(try same(fixture.app.read(100_000)[...], bytes[position - 100_000..<position]))
        #expect(fixture.events.waiting == [])
    }

    @Test func `when the other side stops reading the app is paused`() throws {
        let fixture = try StreamFixture.open()
        let bytes = pattern(24 << 20)
        var position = 0
        var idle = 0
        while position < bytes.count, idle < 200 {
            let count = try fixture.app.writeSome(bytes[position..<min(position + 100_000, bytes.count)])
            position += count
            fixture.settle()
            idle = count > 0 ? 0 : idle + 1
        }
        #expect(position < bytes.count)
        // Bytes still arrive in the other direction.
        try fixture.far.send(data: [1, 2, 3])
        #expect(try fixture.app.read(3) == [1, 2, 3])
        #expect(try same(fixture.far.data(position)[...], bytes[..<position]))
        fixture.app.endWriting()
        #expect(try fixture.far.word() == .end)
    }

    @Test func `a pending reset is found when sending fails`() throws {
        let fixture = try StreamFixture.open()
        // The app reads nothing, so the connection is no longer read. Data and a reset follow, and
        // the connection ends.
        try fixture.stall()
        for _ in 0..<3 { try fixture.far.send(data: pattern(10_000)) }
        try fixture.far.send(.reset(.failed))
        while fixture.far.socket.unacknowledged > 0 { sched_yield() }
        fixture.far.socket.abort()
        // A write on this side detects it.
        _ = try? fixture.app.writeSome([1])
        #expect(try fixture.ended().end == .resetThere(.failed))
        try fixture.awaitRelease()
    }

    @Test func `bytes after a reset are discarded`() throws {
        let fixture = try StreamFixture.open()
        fixture.handle.reset(.cancelled)
        #expect(try fixture.ended().end == .resetHere(.cancelled))
        for _ in 0..<50 { try fixture.far.send(data: pattern(100_000)) }
        #expect(try fixture.far.word() == .reset(.cancelled))
        try fixture.far.close()
        try fixture.awaitRelease()
    }

    @Test func `keys change while bytes flow`() throws {
        let fixture = try StreamFixture.open(bytesPerKey: 20_000)
        for index in 0..<20 {
            try fixture.app.write(pattern(10_000, from: index))
            #expect(try fixture.far.data(10_000) == pattern(10_000, from: index))
            try fixture.far.send(data: pattern(10_000, from: index))
            #expect(try fixture.app.read(10_000) == pattern(10_000, from: index))
        }
        #expect(fixture.far.session.keyUpdates > 5)
    }

    @Test func `memory is released when nothing moves, and bytes flow again`() throws {
        let fixture = try StreamFixture.open()
        for index in 0..<5 {
            try fixture.far.send(data: pattern(50_000, from: index))
            #expect(try fixture.app.read(50_000) == pattern(50_000, from: index))
            try fixture.app.write(pattern(50_000))
            #expect(try fixture.far.data(50_000) == pattern(50_000))
            for _ in 0..<3 {
                fixture.clock.advance(by: .seconds(1))
                fixture.settle()
            }
        }
        // Half a record, and half a frame.
        try fixture.far.session.write(FarSide.frame(.data(10), [1, 2, 3]))
        let wire = fixture.far.session.takeCiphertext()
        try fixture.far.socket.write(Array(wire.dropLast(5)))
        fixture.settle()
        for _ in 0..<3 {
            fixture.clock.advance(by: .seconds(1))
            fixture.settle()
        }
        try fixture.far.socket.write(Array(wire.suffix(5)))
        try fixture.far.send(pattern(7, from: 3))
        #expect(try fixture.app.read(10) == [1, 2, 3] + pattern(7, from: 3))
    }

    @Test func `nothing remains of a stream`() throws {
        weak var loop: StreamLoop?
        weak var handle: StreamHandle?
        do {
            let fixture = try StreamFixture.open()
            loop = fixture.streamLoop
            handle = fixture.handle
            try fixture.app.write(pattern(1000))
            #expect(try fixture.far.data(1000) == pattern(1000))
            fixture.handle.reset(.cancelled)
            _ = try fixture.ended()
            fixture.far.socket.close()
            try fixture.awaitRelease()
        }
        #expect(handle == nil)
        #expect(loop == nil)
    }

    @Test func `nothing remains of a stopped loop`() throws {
        weak var loop: StreamLoop?
        do {
            let fixture = try StreamFixture.open()
            loop = fixture.streamLoop
            fixture.streamLoop.stop()
            #expect(try fixture.events.next() == .ended(StreamReport(end: .resetHere(.stopping), sent: 0, received: 0)))
            fixture.handle.reset(.cancelled)
            #expect(try fixture.app.rest() == [])
        }
        #expect(loop == nil)
    }

    @Test func `a stopped loop first performs pending work`() throws {
        for _ in 0..<50 {
            let fixture = try StreamFixture.open()
            fixture.handle.reset(.notMember)
            fixture.streamLoop.stop()
            #expect(
                try fixture.events.next() == .ended(StreamReport(end: .resetHere(.notMember), sent: 0, received: 0)))
            #expect(fixture.events.waiting == [])
            #expect(try fixture.far.word() == .reset(.notMember))
        }
    }
}
