import LoopIO
import Testing

struct InboxTests {
    private let inbox = Inbox()

    private func add(isOnLoop: Bool = false) -> Bool {
        inbox.add(.work({}), isOnLoop: { isOnLoop })
    }

    @Test func aLoopThatDoesNotWaitNeedsNoWakeUp() {
        #expect(!add())
        #expect(inbox.take().count == 1)
        #expect(!add())
    }

    @Test func wakeUpsOfAWaitingLoopAreCoalesced() {
        #expect(inbox.prepareToWait())
        #expect(add())
        #expect(!add())
        #expect(!inbox.requestStop(isOnLoop: { false }))
        #expect(inbox.take().count == 2)
    }

    @Test func eachWaitHasItsOwnWakeUp() {
        for _ in 0..<3 {
            #expect(inbox.prepareToWait())
            #expect(add())
            #expect(inbox.take().count == 1)
        }
    }

    @Test func theLoopsOwnThreadNeedsNoWakeUpButTheNextOneDoes() {
        #expect(inbox.prepareToWait())
        #expect(!add(isOnLoop: true))
        #expect(add())
    }

    @Test func aLoopWithWorkOrAStopDoesNotWait() {
        #expect(!add())
        #expect(!inbox.prepareToWait())
        _ = inbox.take()
        #expect(inbox.prepareToWait())
        #expect(inbox.requestStop(isOnLoop: { false }))
        #expect(!inbox.prepareToWait())
        #expect(inbox.takeStop())
        #expect(!inbox.takeStop())
    }
}
