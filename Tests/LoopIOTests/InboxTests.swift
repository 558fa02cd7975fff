import LoopIO
import Testing

struct InboxTests {
    private let inbox = Inbox()

    private func add(isOnLoop: Bool = false) -> Bool {
        inbox.add(.work({}), isOnLoop: { isOnLoop })
    }

    @Test func `a loop that does not wait needs no wake-up`() {
        #expect(!add())
        #expect(inbox.take().count == 1)
        #expect(!add())
    }

    @Test func `wake-ups of a waiting loop are coalesced`() {
        #expect(inbox.prepareToWait())
        #expect(add())
        #expect(!add())
        #expect(!inbox.requestStop(isOnLoop: { false }))
        #expect(inbox.take().count == 2)
    }

    @Test func `each wait has its own wake-up`() {
        for _ in 0..<3 {
            #expect(inbox.prepareToWait())
            #expect(add())
            #expect(inbox.take().count == 1)
        }
    }

    @Test func `the loop's own thread needs no wake-up but another one does`() {
        #expect(inbox.prepareToWait())
        #expect(!add(isOnLoop: true))
        #expect(add())
    }

    @Test func `a loop with work or a stop does not wait`() {
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
