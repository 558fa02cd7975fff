import LoopIO
import Testing

@testable import HandoffStreams

/// The ticket and its result.
@Suite(.timeLimit(.minutes(5))) struct GreetingTests {
    @Test func `a ticket may arrive in pieces`() throws {
        let fixture = try StreamFixture()
        for byte in StreamFixture.ticket { try fixture.far.send([byte]) }
        #expect(try fixture.events.next() == .ticket(StreamFixture.ticket))
        fixture.handle.accept()
        fixture.settle()
        #expect(fixture.events.waiting == [])
    }

    @Test func `the server sends nothing before its app`() throws {
        let fixture = try StreamFixture.open()
        try fixture.app.write([5])
        #expect(try fixture.far.read(5) == FarSide.frame(.data(1), [5]))
    }

    @Test func `a rejected ticket gets no reply`() throws {
        let fixture = try StreamFixture()
        try fixture.far.send(StreamFixture.ticket)
        _ = try fixture.events.next()
        fixture.handle.close()
        #expect(try fixture.far.ending() == .cut)
        #expect(try fixture.ended().end == .gone("the ticket was rejected"))
        try fixture.awaitRelease()
    }

    @Test func `frames that arrive with the ticket are for the app`() throws {
        let fixture = try StreamFixture()
        try fixture.far.send(StreamFixture.ticket + FarSide.frame(.data(3), [7, 8, 9]))
        _ = try fixture.events.next()
        fixture.handle.accept()
        fixture.settle()
        try fixture.attach()
        #expect(try fixture.app.read(3) == [7, 8, 9])
    }

    @Test func `words of the client directly follow its ticket`() throws {
        let fixture = try StreamFixture(isServer: false)
        try fixture.attach()
        try fixture.app.write([5])
        #expect(try fixture.far.read(16 + 5) == StreamFixture.ticket + FarSide.frame(.data(1), [5]))
        try fixture.far.send(FarSide.frame(.data(3), [7, 8, 9]) + FarSide.frame(.end))
        #expect(try fixture.app.rest() == [7, 8, 9])
    }

    @Test(arguments: [true, false]) func `a stream that is not accepted returns the app untouched`(isOrderly: Bool)
        throws
    {
        let fixture = try StreamFixture(isServer: false)
        try fixture.attach()
        _ = try fixture.far.read(16)
        fixture.settle()
        if isOrderly { try fixture.far.close() } else { fixture.far.socket.close() }
        guard case .untaken(let socket, _) = try fixture.events.next() else { throw Errno.invalidArgument }
        try fixture.awaitRelease()
        #expect(fixture.events.waiting == [])
        // Bytes that the app writes later belong to the next connection.
        try fixture.app.write([5])
        let (near, far) = try FarSide.connected(nearIsServer: false)
        let next = StreamHandle(near, greeting: .show(ticket: StreamFixture.ticket), on: fixture.streamLoop) { _ in }
        next.attach(socket)
        #expect(try far.read(16 + 5) == StreamFixture.ticket + FarSide.frame(.data(1), [5]))
        try far.send(data: [7])
        #expect(try fixture.app.read(1) == [7])
    }

    @Test(arguments: [true, false])
    func `bytes are not sent again, and the app learns that they may be lost`(hasEnded: Bool) throws {
        let fixture = try StreamFixture(isServer: false)
        try fixture.attach()
        if hasEnded { fixture.app.endWriting() } else { try fixture.app.write([5, 6]) }
        _ = try fixture.far.read(hasEnded ? 16 + 4 : 16 + 6)
        fixture.far.socket.close()
        let report = try fixture.ended()
        #expect(report.sent == (hasEnded ? 0 : 2))
        guard case .gone(let cause) = report.end else { throw Errno.invalidArgument }
        #expect(cause.hasPrefix("the other side did not reply, and may not have accepted the stream: "))
        #expect(try fixture.app.rest() == [])
        try fixture.awaitRelease()
    }

    @Test func `a reset counts as a word`() throws {
        let fixture = try StreamFixture.open(isServer: false)
        try fixture.far.send(.reset(.refused))
        #expect(try fixture.ended().end == .resetThere(.refused))
    }

    @Test func `after a word the ticket is no longer the reason`() throws {
        let fixture = try StreamFixture.open(isServer: false)
        try fixture.far.send(data: [1])
        #expect(try fixture.app.read(1) == [1])
        fixture.far.socket.close()
        #expect(try fixture.ended().end == .gone("the connection was cut"))
    }

    @Test func `a ticket is awaited for at most five seconds`() throws {
        let fixture = try StreamFixture()
        try fixture.far.send(Array(StreamFixture.ticket.dropLast()))
        fixture.settle()
        fixture.clock.advance(by: .milliseconds(4999))
        fixture.settle()
        #expect(fixture.events.waiting == [])
        fixture.clock.advance(by: .milliseconds(1))
        #expect(try fixture.ended().end == .gone("the other side did not send a ticket in time"))
        try fixture.awaitRelease()
    }

    @Test func `a ticket that is never checked is not kept permanently`() throws {
        let fixture = try StreamFixture()
        try fixture.far.send(StreamFixture.ticket)
        _ = try fixture.events.next()
        fixture.clock.advance(by: .seconds(5))
        #expect(try fixture.ended().end.isGone)
        fixture.handle.accept()
        fixture.handle.close()
        fixture.settle()
        #expect(fixture.events.waiting == [])
        try fixture.awaitRelease()
    }

    @Test(arguments: [true, false])
    func `a cut before it is open is reported`(isOrderly: Bool) throws {
        let fixture = try StreamFixture()
        try fixture.far.send([1, 2, 3])
        if isOrderly { try fixture.far.close() } else { fixture.far.socket.close() }
        #expect(try fixture.ended().end.isGone)
        try fixture.awaitRelease()
    }

    @Test func `a cut while the ticket is being checked is reported once`() throws {
        let fixture = try StreamFixture()
        try fixture.far.send(StreamFixture.ticket)
        _ = try fixture.events.next()
        fixture.far.socket.close()
        fixture.handle.accept()
        fixture.settle()
        try fixture.attach()
        #expect(try fixture.ended().end.isGone)
        #expect(try fixture.app.rest() == [])
        try fixture.awaitRelease()
    }

    @Test func `an app attached before the stream is open is released`() throws {
        let fixture = try StreamFixture()
        try fixture.attach()
        #expect(try fixture.app.rest() == [])
    }

    @Test func `a stopped loop ends its streams`() throws {
        let fixture = try StreamFixture()
        try fixture.far.send([1])
        fixture.settle()
        fixture.streamLoop.stop()
        #expect(try fixture.events.next() == .ended(StreamReport(end: .resetHere(.stopping), sent: 0, received: 0)))
        #expect(fixture.events.waiting == [])
        #expect(try fixture.far.ending() == .cut)
    }
}
