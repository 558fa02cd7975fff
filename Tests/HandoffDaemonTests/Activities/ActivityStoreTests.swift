import HandoffDaemon
import HandoffJSON
import HandoffModel
import HandoffProtocol
import LoopIO
import Testing

struct ActivityStoreTests {
    private let start = LoopInstant(nanoseconds: 1_000_000_000)
    private let first = ActivityID(checked: Array(repeating: 1, count: 16))
    private let second = ActivityID(checked: Array(repeating: 2, count: 16))

    private func content(_ title: String? = nil, page: Int64 = 1) throws -> ActivityContent {
        let type = try #require(ActivityType("org.example.reading"))
        return ActivityContent(type: type, title: title, userInfo: ["page": .integer(page)])
    }

    private func store(needsSave: Bool = true) throws -> ActivityStore {
        var store = ActivityStore(refreshInterval: .seconds(15))
        try store.publish(try content(), id: first, session: "a", needsSave: needsSave, answersSaves: true)
        return store
    }

    @Test func `a published activity is not offered before it becomes current`() throws {
        var store = try store()
        #expect(store.offers(now: start).isEmpty)
        #expect(
            try store.becomeCurrent(first, session: "a", offer: first, now: start) == [
                .offersChanged, .askToSave(first),
            ])
        #expect(store.offers(now: start).map(\.id) == [first])
    }

    @Test func `payloads together have a limit, and give back what they took`() throws {
        var store = ActivityStore(refreshInterval: .seconds(15))
        let most = ActivityStore.maximumBytes
        try store.publish(
            try content(), id: first, session: "a", needsSave: false, answersSaves: true, bytes: most - 1)
        #expect(throws: ActivityStore.Refusal.tooMuch) {
            try store.publish(
                try content(), id: second, session: "b", needsSave: false, answersSaves: true, bytes: 2)
        }
        #expect(throws: ActivityStore.Refusal.tooMuch) {
            try store.update(
                first, session: "a", content: try content(), needsSave: nil, answersSave: false, bytes: most + 1,
                now: start)
        }
        _ = store.endSession("a")
        try store.publish(
            try content(), id: second, session: "b", needsSave: false, answersSaves: true, bytes: most)
    }

    @Test func `becoming current again asks for no second save`() throws {
        var store = try store()
        _ = try store.becomeCurrent(first, session: "a", offer: first, now: start)
        #expect(try store.becomeCurrent(first, session: "a", offer: second, now: start) == [])
    }

    @Test func `an activity without news is not asked`() throws {
        var store = try store(needsSave: false)
        #expect(try store.becomeCurrent(first, session: "a", offer: first, now: start) == [.offersChanged])
    }

    @Test func `a session has one current activity`() throws {
        var store = try store()
        try store.publish(try content(), id: second, session: "a", needsSave: false, answersSaves: true)
        _ = try store.becomeCurrent(first, session: "a", offer: first, now: start)
        _ = try store.becomeCurrent(second, session: "a", offer: second, now: start)
        #expect(store.offers(now: start).map(\.id) == [second])
        #expect(store.offered(first) == nil)
    }

    @Test func `the most recent of several apps comes first`() throws {
        var store = try store()
        try store.publish(try content(), id: second, session: "b", needsSave: false, answersSaves: true)
        _ = try store.becomeCurrent(first, session: "a", offer: first, now: start)
        let later = start.advanced(by: .seconds(5))
        _ = try store.becomeCurrent(second, session: "b", offer: second, now: later)
        #expect(store.offers(now: later).map(\.id) == [second, first])
        #expect(store.offers(now: later).map(\.age) == [0, 5])
    }

    @Test func `a resigned activity is void under its former id`() throws {
        var store = try store()
        _ = try store.becomeCurrent(first, session: "a", offer: first, now: start)
        #expect(try store.resign(first, session: "a") == [.offersChanged])
        #expect(store.offered(first) == nil)
        _ = try store.becomeCurrent(first, session: "a", offer: second, now: start)
        #expect(store.offered(second)?.id == first)
    }

    @Test func `another session can do nothing with it`() throws {
        var store = try store()
        #expect(throws: ActivityStore.Refusal.unknown(first)) {
            _ = try store.becomeCurrent(first, session: "b", offer: first, now: start)
        }
        #expect(throws: ActivityStore.Refusal.unknown(first)) { _ = try store.invalidate(first, session: "b") }
    }

    @Test func `the end of a session ends its activities`() throws {
        var store = try store()
        _ = try store.becomeCurrent(first, session: "a", offer: first, now: start)
        #expect(store.endSession("a") == [.offersChanged])
        #expect(store.count == 0)
    }

    @Test func `news of the payload alone is no news to other devices, a new title is`() throws {
        var store = try store()
        _ = try store.becomeCurrent(first, session: "a", offer: first, now: start)
        let samePage = try store.update(
            first, session: "a", content: try content(page: 2), needsSave: nil, answersSave: true, now: start)
        #expect(samePage == [])
        let renamed = try store.update(
            first, session: "a", content: try content("Chapter 2"), needsSave: nil, answersSave: false, now: start)
        #expect(renamed == [.offersChanged])
    }

    @Test func `while it needs saving, the owner is asked again after the refresh interval`() throws {
        var store = try store()
        _ = try store.becomeCurrent(first, session: "a", offer: first, now: start)
        _ = try store.update(
            first, session: "a", content: try content(), needsSave: true, answersSave: true, now: start)
        #expect(store.nextDeadline(now: start, wallClock: 0) == .seconds(15))
        #expect(store.advance(now: start.advanced(by: .seconds(14)), wallClock: 0) == [])
        #expect(store.advance(now: start.advanced(by: .seconds(15)), wallClock: 0) == [.askToSave(first)])
    }

    @Test func `with nothing to save there is nothing to wait for`() throws {
        var store = try store(needsSave: false)
        _ = try store.becomeCurrent(first, session: "a", offer: first, now: start)
        #expect(store.nextDeadline(now: start, wallClock: 0) == nil)
    }

    @Test func `an owner that did not answer is asked again at the next occasion`() throws {
        var store = try store()
        _ = try store.becomeCurrent(first, session: "a", offer: first, now: start)
        store.saveTimedOut(first, now: start)
        #expect(store.requestSave(of: first, now: start) == [.askToSave(first)])
        #expect(store.requestSave(of: first, now: start) == [], "one request at a time")
    }

    @Test func `an expired activity is withdrawn, and its owner told`() throws {
        var store = ActivityStore(refreshInterval: .seconds(15))
        var expiring = try content()
        expiring.expiration = 100
        try store.publish(expiring, id: first, session: "a", needsSave: false, answersSaves: true)
        _ = try store.becomeCurrent(first, session: "a", offer: first, now: start)
        #expect(store.nextDeadline(now: start, wallClock: 90) == .seconds(10))
        #expect(store.advance(now: start, wallClock: 99) == [])
        #expect(store.advance(now: start, wallClock: 100) == [.withdrawn(first, session: "a"), .offersChanged])
        #expect(store.offers(now: start).isEmpty)
    }

    @Test(arguments: [Double.infinity, -Double.infinity, Double.nan, 1e308, -1e308])
    func `no expiration date can stop the daemon`(date: Double) throws {
        var store = ActivityStore(refreshInterval: .seconds(15))
        var odd = try content()
        odd.expiration = date
        try store.publish(odd, id: first, session: "a", needsSave: false, answersSaves: true)
        _ = try store.becomeCurrent(first, session: "a", offer: first, now: start)
        let wait = try #require(store.nextDeadline(now: start, wallClock: 0))
        #expect(wait >= .zero && wait <= .seconds(86_400))
    }

    @Test func `an activity that is not eligible is not offered`() throws {
        var store = ActivityStore(refreshInterval: .seconds(15))
        var shy = try content()
        shy.isEligibleForHandoff = false
        try store.publish(shy, id: first, session: "a", needsSave: false, answersSaves: true)
        _ = try store.becomeCurrent(first, session: "a", offer: first, now: start)
        #expect(store.offers(now: start).isEmpty)
    }

    @Test func `one session cannot have activities without bound`() throws {
        var store = try store()
        var refused = 0
        for index in 2..<UInt8(ActivityStore.maximumPerSession + 3) {
            let id = ActivityID(checked: Array(repeating: index, count: 16))
            do {
                try store.publish(try content(), id: id, session: "a", needsSave: false, answersSaves: true)
            } catch ActivityStore.Refusal.tooMany {
                refused += 1
            }
        }
        #expect(store.count == ActivityStore.maximumPerSession)
        #expect(refused == 2)
    }
}
