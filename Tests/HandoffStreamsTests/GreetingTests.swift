import LoopIO
import Testing

@testable import HandoffStreams

/// Ticket and answer.
@Suite(.timeLimit(.minutes(4)))
struct GreetingTests {
    @Test func aTicketMayComeInPieces() throws {
        let fixture = try StreamFixture()
        for byte in StreamFixture.ticket { try fixture.far.send([byte]) }
        #expect(try fixture.events.next() == .ticket(StreamFixture.ticket))
        fixture.handle.accept()
        #expect(try fixture.far.read(1) == [1])
    }

    @Test func aTicketThatIsNoGoodGetsNoAnswer() throws {
        let fixture = try StreamFixture()
        try fixture.far.send(StreamFixture.ticket)
        _ = try fixture.events.next()
        fixture.handle.close()
        #expect(try fixture.far.ending() == .cut)
        #expect(try fixture.ended().end == .gone("the ticket was not taken"))
        try fixture.awaitRelease()
    }

    @Test func framesThatComeWithTheTicketAreForTheApp() throws {
        let fixture = try StreamFixture()
        try fixture.far.send(StreamFixture.ticket + FarSide.frame(.data(3), [7, 8, 9]))
        _ = try fixture.events.next()
        fixture.handle.accept()
        fixture.settle()
        try fixture.attach()
        #expect(try fixture.app.read(3) == [7, 8, 9])
    }

    @Test func framesThatComeWithTheAnswerAreForTheApp() throws {
        let fixture = try StreamFixture(isServer: false)
        #expect(try fixture.far.read(16) == StreamFixture.ticket)
        try fixture.far.send([1] + FarSide.frame(.data(3), [7, 8, 9]) + FarSide.frame(.end))
        #expect(try fixture.events.next() == .accepted)
        fixture.settle()
        try fixture.attach()
        #expect(try fixture.app.rest() == [7, 8, 9])
    }

    @Test func anotherAnswerThanYesEndsIt() throws {
        let fixture = try StreamFixture(isServer: false)
        try fixture.far.send([2])
        #expect(try fixture.ended().end == .gone("the other side gave an answer without meaning"))
        try fixture.awaitRelease()
    }

    @Test(arguments: [true, false]) func nobodyWaitsLongerThanFiveSeconds(isServer: Bool) throws {
        let fixture = try StreamFixture(isServer: isServer)
        if isServer { try fixture.far.send(Array(StreamFixture.ticket.dropLast())) }
        fixture.settle()
        fixture.clock.advance(by: .milliseconds(4999))
        fixture.settle()
        #expect(fixture.events.waiting == [])
        fixture.clock.advance(by: .milliseconds(1))
        #expect(try fixture.ended().end == .gone("the other side did not answer in time"))
        try fixture.awaitRelease()
    }

    @Test func aTicketThatNobodyJudgesIsNotKeptForEver() throws {
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

    @Test(arguments: [true, false], [true, false])
    func aCutBeforeItIsOpenIsReported(isServer: Bool, isOrderly: Bool) throws {
        let fixture = try StreamFixture(isServer: isServer)
        if isServer { try fixture.far.send([1, 2, 3]) }
        if isOrderly { try fixture.far.close() } else { fixture.far.socket.close() }
        #expect(try fixture.ended().end.isGone)
        try fixture.awaitRelease()
    }

    @Test func aCutWhileTheTicketIsJudgedIsReportedOnce() throws {
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

    @Test func anAppThatComesBeforeItIsOpenIsLetGo() throws {
        let fixture = try StreamFixture()
        try fixture.attach()
        #expect(try fixture.app.rest() == [])
    }

    @Test func aLoopThatEndsEndsItsStreams() throws {
        let fixture = try StreamFixture()
        try fixture.far.send([1])
        fixture.settle()
        fixture.streamLoop.stop()
        #expect(try fixture.events.next() == .ended(StreamReport(end: .resetHere(.stopping), sent: 0, received: 0)))
        #expect(fixture.events.waiting == [])
        #expect(try fixture.far.ending() == .cut)
    }
}
