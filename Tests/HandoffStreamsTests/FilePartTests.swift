import Glibc
import HandoffTestSupport
import LoopIO
import Testing

@testable import HandoffStreams

/// Files that replace the app's socket.
@Suite(.timeLimit(.minutes(5))) struct FilePartTests {
    /// More than the blocks of a reader and a writer hold.
    private static let large = 3 << 20

    // MARK: Sending

    @Test(arguments: [0, 1, 100_000, large]) func `a whole file is sent and then the app continues`(size: Int) throws {
        let fixture = try StreamFixture.open()
        let events = fixture.pass(.send, 0, nil, try TestFile.regular(pattern(size)).passed)
        #expect(try same(fixture.far.data(size)[...], pattern(size)[...]))
        #expect(try events.last() == .done(Int64(size)))
        try fixture.app.write([1, 2, 3])
        #expect(try fixture.far.data(3) == [1, 2, 3])
        fixture.app.endWriting()
        #expect(try fixture.far.word() == .end)
        try fixture.far.send(.end)
        #expect(try fixture.ended() == StreamReport(end: .ended, sent: UInt64(size) + 3, received: 0))
    }

    @Test(arguments: [0, 1, 70_000, large]) func `only a part of a long file is sent`(length: Int) throws {
        let fixture = try StreamFixture.open()
        let file = try TestFile.regular(pattern(Self.large + 100))
        let events = fixture.pass(.send, 0, Int64(length), file.passed)
        #expect(try events.last(while: { _ = try fixture.far.data(length) }) == .done(Int64(length)))
        try fixture.app.write([1, 2, 3])
        #expect(try fixture.far.data(3) == [1, 2, 3])
    }

    @Test(arguments: [1, 50_000]) func `a file is sent between bytes of the app`(position: Int) throws {
        let fixture = try StreamFixture.open()
        let file = try TestFile.regular(pattern(Self.large))
        let events = fixture.pass(.send, UInt64(position), nil, file.passed)
        fixture.settle()
        try fixture.app.write(pattern(position) + [9, 8, 7])
        #expect(try fixture.far.data(position) == pattern(position))
        #expect(try same(fixture.far.data(Self.large)[...], pattern(Self.large)[...]))
        #expect(try fixture.far.data(3) == [9, 8, 7])
        #expect(try events.last() == .done(Int64(Self.large)))
    }

    /// The reader has filled its buffer before the position of the file is reached, and reports
    /// nothing more.
    @Test(arguments: [10, 3 << 20]) func `a file is sent once its position is reached`(size: Int) throws {
        let fixture = try StreamFixture.open()
        let file = try TestFile.socket()
        let events = fixture.pass(.send, 100, Int64(size), file.passed)
        let other = try #require(file.other)
        var rest = pattern(size)[...]
        var idle = 0
        while idle < 200 {
            let count = rest.isEmpty ? 0 : try other.writeSome(rest)
            rest = rest.dropFirst(count)
            fixture.settle()
            idle = count > 0 ? 0 : idle + 1
        }
        try fixture.app.write(pattern(100))
        #expect(try fixture.far.data(100) == pattern(100))
        let sent = size - rest.count
        #expect(try same(fixture.far.data(sent)[...], pattern(size).prefix(sent)))
        try other.write(Array(rest))
        #expect(try fixture.far.data(rest.count) == Array(rest))
        #expect(try events.last() == .done(Int64(size)))
    }

    @Test func `a file shorter than its length ends the stream`() throws {
        let fixture = try StreamFixture.open()
        let events = fixture.pass(.send, 0, 1000, try TestFile.regular(pattern(999)).passed)
        #expect(try fixture.far.data(999) == pattern(999))
        #expect(try events.last() == .failed(999, "it ended after 999 of 1000 bytes"))
        #expect(try fixture.far.word() == .reset(.failed))
        #expect(try fixture.ended().end == .resetHere(.failed))
    }

    @Test func `passed positions are refused`() throws {
        let fixture = try StreamFixture.open()
        try fixture.app.write(pattern(10))
        #expect(try fixture.far.data(10) == pattern(10))
        #expect(try fixture.pass(.send, 9, nil, TestFile.regular([1]).passed).last() == .positionPassed(10))
        try fixture.far.send(data: pattern(20))
        #expect(try fixture.app.read(20) == pattern(20))
        fixture.settle()
        #expect(try fixture.pass(.receive, 19, nil, TestFile.regular().passed).last() == .positionPassed(20))
        // Nothing has changed.
        try fixture.app.write([1])
        #expect(try fixture.far.data(1) == [1])
    }

    @Test func `the app may end before the position of the file`() throws {
        let fixture = try StreamFixture.open()
        let events = fixture.pass(.send, 100, nil, try TestFile.regular([1]).passed)
        try fixture.app.write(pattern(99))
        fixture.app.endWriting()
        #expect(try fixture.far.data(99) == pattern(99))
        #expect(try fixture.far.word() == .end)
        #expect(try events.last() == .positionPassed(99))
        #expect(try fixture.pass(.send, 99, nil, TestFile.regular([1]).passed).last() == .positionPassed(99))
    }

    @Test func `each direction has one file at a time`() throws {
        let fixture = try StreamFixture.open()
        let file = try TestFile.socket()
        let first = fixture.pass(.send, 0, 1, file.passed)
        #expect(try fixture.pass(.send, 0, nil, TestFile.regular([1]).passed).last() == .positionPassed(0))
        let second = fixture.pass(.receive, 0, nil, try TestFile.regular().passed)
        #expect(try fixture.pass(.receive, 0, nil, TestFile.regular().passed).last() == .positionPassed(0))
        fixture.handle.reset(.cancelled)
        let report = try fixture.ended()
        #expect(try first.last() == .over(0, report))
        #expect(try second.last() == .over(0, report))
        file.other?.close()
    }

    // MARK: Receiving

    @Test(arguments: [0, 1, 100_000, large]) func `a direction is written to a file up to its end`(size: Int) throws {
        let fixture = try StreamFixture.open()
        let file = try TestFile.regular()
        let events = fixture.pass(.receive, 0, nil, file.passed)
        try fixture.sendInFrames(pattern(size))
        try fixture.far.send(.end)
        #expect(try events.last() == .done(Int64(size)))
        #expect(try same(file.content()[...], pattern(size)[...]))
        #expect(try fixture.app.rest() == [])
    }

    @Test(arguments: [0, 1, 50_000], [0, 1, 100_000, large])
    func `a part is written to a file and the rest to the app`(position: Int, length: Int) throws {
        let fixture = try StreamFixture.open()
        let file = try TestFile.regular()
        let events = fixture.pass(.receive, UInt64(position), Int64(length), file.passed)
        fixture.settle()
        let all = pattern(position + length + 1000)
        try fixture.sendInFrames(all)
        #expect(try fixture.app.read(position + 1000) == Array(all.prefix(position) + all.suffix(1000)))
        #expect(try events.last() == .done(Int64(length)))
        #expect(try same(file.content()[...], all[position..<position + length]))
        #expect(fixture.events.waiting == [])
    }

    @Test func `bytes buffered for the app may still be written to a file`() throws {
        let fixture = try StreamFixture.open()
        try fixture.stall()
        let before = fixture.app.unread
        let file = try TestFile.regular()
        let events = fixture.pass(.receive, UInt64(before) + 100_000, 1000, file.passed)
        fixture.settle()
        try fixture.sendInFrames(pattern(300_000))
        _ = try fixture.app.read(before + 100_000)
        #expect(try events.last() == .done(1000))
        #expect(try file.content().count == 1000)
    }

    @Test func `a direction shorter than the length fails only the file`() throws {
        let fixture = try StreamFixture.open()
        let events = fixture.pass(.receive, 0, 1000, try TestFile.regular().passed)
        try fixture.far.send(FarSide.frame(.data(999), pattern(999)) + FarSide.frame(.end))
        let event = try events.last()
        #expect(event == .failed(999, "the other side ended its direction early, after 999 bytes"))
        #expect(try fixture.app.rest() == [])
        fixture.app.endWriting()
        #expect(try fixture.far.word() == .end)
        #expect(try fixture.ended().end == .ended)
    }

    @Test func `a file that cannot be written ends the stream`() throws {
        let fixture = try StreamFixture.open()
        let events = fixture.pass(.receive, 0, nil, try TestFile.device("/dev/full").passed)
        try fixture.far.send(data: [1, 2, 3])
        let last = try events.last()
        #expect(last == .failed(0, "\(Errno(rawValue: ENOSPC))"))
        #expect(try fixture.far.word() == .reset(.failed))
        #expect(try fixture.ended().end == .resetHere(.failed))
    }

    @Test func `a file that cannot be finished ends the stream`() throws {
        let fixture = try StreamFixture.open()
        let events = fixture.pass(.receive, 0, 3, try TestFile.device("/dev/full").passed)
        try fixture.far.send(data: [1, 2, 3])
        #expect(try events.last() == .failed(0, "\(Errno(rawValue: ENOSPC))"))
        #expect(try fixture.far.word() == .reset(.failed))
        #expect(try fixture.ended().end == .resetHere(.failed))
    }

    @Test func `a socket that is no longer read ends the stream`() throws {
        let fixture = try StreamFixture.open()
        let file = try TestFile.socket()
        let events = fixture.pass(.receive, 0, nil, file.passed)
        fixture.settle()
        file.other?.close()
        try fixture.far.send(data: [1, 2, 3])
        #expect(try events.last() == .failed(0, "\(Errno.brokenPipe)"))
        #expect(try fixture.ended().end == .resetHere(.failed))
    }

    @Test func `a slow file pauses the other side and continues`() throws {
        let fixture = try StreamFixture.open()
        let file = try TestFile.socket()
        let size = 24 << 20
        let events = fixture.pass(.receive, 0, Int64(size), file.passed)
        let other = try #require(file.other)
        let bytes = pattern(size)
        let position = try fixture.sendWhatIsTaken(bytes)
        #expect(position.sent < size)
        let early = try other.read(position.sent - 100_000)
        #expect(same(early[...], bytes.prefix(position.sent - 100_000)))
        try fixture.far.socket.write(position.wire)
        var late = try other.read(100_000)
        let rest = Array(bytes[position.sent...])
        for start in stride(from: 0, to: rest.count, by: 200_000) {
            let piece = Array(rest[start..<min(start + 200_000, rest.count)])
            try fixture.far.send(data: piece)
            late += try other.read(piece.count)
        }
        #expect(same(late[...], bytes[(position.sent - 100_000)...]))
        #expect(try events.last() == .done(Int64(size)))
    }

    // MARK: Both

    @Test func `one file follows another in both directions simultaneously`() throws {
        let fixture = try StreamFixture.open()
        let size = 300_000
        for round in 0..<3 {
            let position = UInt64(round * (size + 10))
            let received = try TestFile.regular()
            let sent = try TestFile.regular(pattern(size))
            let sending = fixture.pass(.send, position, Int64(size), sent.passed)
            let receiving = fixture.pass(.receive, position, Int64(size), received.passed)
            try fixture.sendInFrames(pattern(size) + pattern(10))
            #expect(try same(fixture.far.data(size)[...], pattern(size)[...]))
            #expect(try fixture.app.read(10) == pattern(10))
            #expect(try sending.last() == .done(Int64(size)))
            #expect(try receiving.last() == .done(Int64(size)))
            #expect(try same(received.content()[...], pattern(size)[...]))
            try fixture.app.write(pattern(10))
            #expect(try fixture.far.data(10) == pattern(10))
            fixture.settle()
        }
        #expect(fixture.events.waiting == [])
    }

    @Test(arguments: [true, false]) func `bytes received before the end are in the file`(isCut: Bool) throws {
        let fixture = try StreamFixture.open()
        let file = try TestFile.regular()
        let events = fixture.pass(.receive, 10, nil, file.passed)
        fixture.settle()
        try fixture.sendInFrames(pattern(400_010))
        if isCut { fixture.far.socket.close() } else { try fixture.far.send(.reset(.cancelled)) }
        let report = try fixture.ended()
        #expect(report.received == 400_010)
        #expect(try events.last() == .over(400_000, report))
        #expect(try same(file.content()[...], pattern(400_010).dropFirst(10)))
    }

    @Test func `a file being sent is released when the stream ends`() throws {
        let fixture = try StreamFixture.open()
        let file = try TestFile.socket()
        let events = fixture.pass(.send, 0, nil, file.passed)
        try file.other?.write([1, 2, 3])
        #expect(try fixture.far.data(3) == [1, 2, 3])
        try fixture.far.send(.reset(.cancelled))
        #expect(try events.last() == .over(3, try fixture.ended()))
        #expect(try file.other?.rest() == [])
    }

    @Test func `a pipe that is not read delays the end only briefly`() throws {
        let fixture = try StreamFixture.open()
        let file = try TestFile.socket()
        let events = fixture.pass(.receive, 0, nil, file.passed)
        fixture.settle()
        _ = try fixture.sendWhatIsTaken(pattern(2 << 20))
        // The transfer has begun; nothing more is read.
        _ = try file.other?.read(1)
        fixture.handle.reset(.cancelled)
        let report = try fixture.ended()
        fixture.settle()
        #expect(!events.waiting.contains { if case .over = $0 { true } else { false } })
        fixture.clock.advance(by: .seconds(5))
        guard case .over(1..., report) = try events.last() else { throw UnexpectedEvent(event: .done(0)) }
    }

    @Test func `a file part requires an app`() throws {
        let fixture = try StreamFixture()
        #expect(
            try fixture.pass(.send, 0, nil, TestFile.regular([1]).passed).last() == .failed(0, "the stream is not open")
        )
        fixture.handle.reset(.cancelled)
        try fixture.awaitRelease()
        #expect(
            try fixture.pass(.send, 0, nil, TestFile.regular([1]).passed).last() == .failed(0, "the stream is over"))
    }

    @Test func `progress is reported a few times a second`() throws {
        let fixture = try StreamFixture.open()
        let file = try TestFile.socket()
        let events = fixture.pass(.send, 0, 4, file.passed)
        // The part is accepted.
        #expect(try events.next() == .moved(0))
        try file.other?.write([1, 2, 3])
        #expect(try fixture.far.data(3) == [1, 2, 3])
        fixture.settle()
        #expect(events.waiting == [])
        fixture.clock.advance(by: .milliseconds(250))
        #expect(try events.next() == .moved(3))
        fixture.clock.advance(by: .milliseconds(250))
        fixture.settle()
        #expect(events.waiting == [])
        try file.other?.write([4])
        #expect(try events.last() == .done(4))
    }
}

extension Mailbox<FilePart.Event> {
    /// Returns the event after all progress events.
    ///
    /// - Parameter body: runs before.
    func last(
        while body: () throws -> Void = {}, _ sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> FilePart.Event {
        try body()
        while true {
            let event = try next(sourceLocation)
            guard case .moved = event else { return event }
        }
    }
}

/// An unexpected event was reported.
private struct UnexpectedEvent: Error {
    let event: FilePart.Event
}
