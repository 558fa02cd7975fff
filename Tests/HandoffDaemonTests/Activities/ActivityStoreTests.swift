import HandoffJSON
import HandoffModel
import HandoffProtocol
import LoopIO
import Testing

@testable import HandoffDaemon

struct ActivityStoreTests {
    private let start = MonotonicInstant(nanoseconds: 1_000_000_000)
    private let first = ActivityID(checked: Array(repeating: 1, count: 16))
    private let second = ActivityID(checked: Array(repeating: 2, count: 16))

    private func content(_ title: String? = nil, page: Int64 = 1) throws -> ActivityContent {
        let type = try #require(ActivityType("org.example.reading"))
        return ActivityContent(type: type, title: title, userInfo: ["page": .integer(page)])
    }

    private func store(needsSave: Bool = true) throws -> ActivityStore {
        var store = ActivityStore(refreshInterval: .seconds(15))
        try store.publish(
            try content(), id: first, session: "a", group: .process(1), needsSave: needsSave, answersSaves: true)
        return store
    }

    @Test func `an activity that saves on continuation receives a save request only then`() throws {
        var store = ActivityStore(refreshInterval: .seconds(15))
        try store.publish(
            try content(), id: first, session: "a", group: .process(1), needsSave: true, answersSaves: true,
            savesOnContinue: true)
        #expect(try store.becomeCurrent(first, session: "a", offer: first, now: start) == [.offersChanged])
        #expect(store.nextDeadline(now: start, wallClock: 0) == nil)
        #expect(store.advance(now: start.advanced(by: .seconds(60)), wallClock: 0) == [])
        #expect(store.requestSave(of: first, now: start) == [.requestSave(first)])
        // Changes after the answer wait for the next continuation too.
        _ = try store.update(
            first, session: "a", content: content(), needsSave: true, answersSave: true, now: start)
        #expect(store.nextDeadline(now: start, wallClock: 0) == nil)
        #expect(store.advance(now: start.advanced(by: .seconds(60)), wallClock: 0) == [])
        #expect(store.requestSave(of: first, now: start) == [.requestSave(first)])
    }

    @Test func `an activity whose lifetime ends during sleep stays on offer for ten minutes after it`() throws {
        var store = ActivityStore(refreshInterval: .seconds(15), lifetime: .seconds(86_400))
        try store.publish(
            try content(), id: first, session: "a", group: .process(1), needsSave: false, answersSaves: true)
        _ = try store.becomeCurrent(first, session: "a", offer: first, now: start)
        store.suspend()
        let awake = start.advanced(by: .seconds(90_000))
        #expect(store.nextDeadline(now: awake, wallClock: 0) == nil)
        #expect(store.advance(now: awake, wallClock: 0) == [])
        store.resume(now: awake)
        #expect(store.nextDeadline(now: awake, wallClock: 0) == .seconds(600))
        #expect(store.advance(now: awake.advanced(by: .seconds(599)), wallClock: 0) == [])
        #expect(!store.advance(now: awake.advanced(by: .seconds(600)), wallClock: 0).isEmpty)
    }

    @Test func `the file of an item is received once, in order, and not without bytes`() throws {
        var store = try store()
        func keep(_ offset: Int, _ data: [UInt8], size: Int = 3) throws -> Bool? {
            try store.keepContent(first, session: "a", name: "file", size: size, offset: offset, data)
        }
        #expect(try keep(1, [1]) == nil, "the start is missing")
        #expect(try keep(0, []) == false, "only the size")
        #expect(try keep(0, [1]) == false)
        #expect(try keep(1, []) == nil)
        #expect(try keep(2, [3]) == nil && keep(1, [2, 3, 4]) == nil && keep(1, [2], size: 4) == nil)
        #expect(try keep(1, [2, 3]) == true)
        #expect(store.activity(first)?.keptContent?.bytes == [1, 2, 3])
        // Each complete file is sent to all members.
        #expect(try keep(3, []) == nil && keep(0, [1]) == nil)
        _ = try store.update(
            first, session: "a", content: content(), needsSave: nil, answersSave: false, keeping: .never, now: start)
        #expect(store.activity(first)?.keptContent == nil)
    }

    @Test func `a published activity is not offered before it becomes current`() throws {
        var store = try store()
        #expect(store.offers(now: start).isEmpty)
        #expect(
            try store.becomeCurrent(first, session: "a", offer: first, now: start) == [
                .offersChanged, .requestSave(first),
            ])
        #expect(store.offers(now: start).map(\.activity.id) == [first])
    }

    @Test func `activities that are sent to a device are offered in addition to the current one`() throws {
        var store = ActivityStore(refreshInterval: .seconds(15))
        let recipient = DeviceID(checked: Array(repeating: 9, count: 16))
        let ids = (1...34).map { ActivityID(checked: Array(repeating: UInt8($0), count: 16)) }
        for (number, id) in ids.enumerated() {
            try store.publish(
                try content(), id: id, session: "a", group: .process(1), needsSave: false, answersSaves: true,
                recipient: number < 32 ? recipient : nil)
            _ = try store.becomeCurrent(id, session: "a", offer: id, now: start)
        }
        // Of the last two, which are for all devices, the second replaced the first.
        #expect(Set(store.offers(now: start).map(\.activity.id)) == Set(ids.prefix(32) + [ids[33]]))
        #expect(try store.resign(ids[0], session: "a") == [.offersChanged])
        #expect(store.offers(now: start).count == 32)
    }

    @Test func `the user can end an activity of any owner`() throws {
        var store = try store(needsSave: false)
        _ = try store.becomeCurrent(first, session: "a", offer: first, now: start)
        #expect(store.all.map(\.id) == [first])
        #expect(try store.withdraw(first) == [.withdrawn(first, session: "a"), .offersChanged])
        #expect(store.all.isEmpty)
        #expect(throws: ActivityStore.Refusal.unknown(first)) { try store.withdraw(first) }
    }

    @Test func `an app has a quarter of all payloads, over all of its sessions`() throws {
        var store = ActivityStore(refreshInterval: .seconds(15))
        let share = ActivityStore.maxBytesPerApp
        let (greedy, modest) = (ClientGroup.unit("app-greedy.scope"), ClientGroup.process(2))
        func publish(_ number: UInt8, _ session: String, _ group: ClientGroup, _ bytes: Int) throws {
            let id = ActivityID(checked: Array(repeating: number, count: 16))
            try store.publish(
                try content(), id: id, session: session, group: group, needsSave: false, answersSaves: true,
                bytes: bytes)
        }
        func update(_ number: UInt8, _ session: String, _ bytes: Int) throws {
            let id = ActivityID(checked: Array(repeating: number, count: 16))
            _ = try store.update(
                id, session: session, content: try content(), needsSave: nil, answersSave: false, bytes: bytes,
                now: start)
        }
        try publish(1, "a", greedy, share - 1)
        #expect(throws: ActivityStore.Refusal.tooMuchOfApp) { try publish(2, "b", greedy, 2) }
        #expect(throws: ActivityStore.Refusal.tooMuchOfApp) { try update(1, "a", share + 1) }
        try publish(3, "c", modest, share)
        // Shrinking is never refused, and leaves room.
        try update(1, "a", share - 2)
        try publish(2, "b", greedy, 2)
        #expect(ActivityStore.maxBytes == 4 * share)
    }

    @Test func `all payloads together have a limit, and release their share`() throws {
        var store = ActivityStore(refreshInterval: .seconds(15))
        let share = ActivityStore.maxBytesPerApp
        func publish(_ number: Int32, _ bytes: Int) throws {
            let id = ActivityID(checked: Array(repeating: UInt8(number), count: 16))
            try store.publish(
                try content(), id: id, session: "\(number)", group: .process(number), needsSave: false,
                answersSaves: true, bytes: bytes)
        }
        for app in Int32(1)...4 { try publish(app, share) }
        #expect(throws: ActivityStore.Refusal.tooMuchOfAll) { try publish(5, 1) }
        _ = store.endSession("2")
        try publish(5, share)
    }

    @Test func `an app has a quarter of all activities, over all of its sessions`() throws {
        var store = ActivityStore(refreshInterval: .seconds(15))
        func publish(_ number: Int, _ group: ClientGroup) throws {
            let id = ActivityID(checked: (0..<16).map { UInt8(truncatingIfNeeded: number >> ($0 * 8 % 64)) })
            try store.publish(
                try content(), id: id, session: "\(number)", group: group, needsSave: false, answersSaves: true)
        }
        for number in 1...ActivityStore.maxPerApp { try publish(number, .process(1)) }
        #expect(throws: ActivityStore.Refusal.tooManyOfApp) { try publish(0, .process(1)) }
        try publish(0, .process(2))
    }

    @Test func `an activity that becomes current again requests no second save`() throws {
        var store = try store()
        _ = try store.becomeCurrent(first, session: "a", offer: first, now: start)
        #expect(try store.becomeCurrent(first, session: "a", offer: second, now: start) == [])
    }

    @Test func `an activity without changes requests no save`() throws {
        var store = try store(needsSave: false)
        #expect(try store.becomeCurrent(first, session: "a", offer: first, now: start) == [.offersChanged])
    }

    @Test func `a session has one current activity`() throws {
        var store = try store()
        try store.publish(
            try content(), id: second, session: "a", group: .process(1), needsSave: false, answersSaves: true)
        _ = try store.becomeCurrent(first, session: "a", offer: first, now: start)
        _ = try store.becomeCurrent(second, session: "a", offer: second, now: start)
        #expect(store.offers(now: start).map(\.activity.id) == [second])
        #expect(store.offered(first) == nil)
    }

    @Test func `activities that become current at the same moment keep their order`() throws {
        var store = ActivityStore(refreshInterval: .seconds(15))
        let ids = (UInt8(1)...20).map { ActivityID(checked: Array(repeating: $0, count: 16)) }
        for id in ids {
            try store.publish(
                try content(), id: id, session: "a", group: .process(1), needsSave: false, answersSaves: true,
                recipient: DeviceID(checked: Array(repeating: 9, count: 16)))
        }
        for id in ids { _ = try store.becomeCurrent(id, session: "a", offer: id, now: start) }
        #expect(store.offers(now: start).map(\.activity.id) == ids.reversed())
    }

    @Test func `of several apps, the most recent offer is first`() throws {
        var store = try store()
        try store.publish(
            try content(), id: second, session: "b", group: .process(1), needsSave: false, answersSaves: true)
        _ = try store.becomeCurrent(first, session: "a", offer: first, now: start)
        let later = start.advanced(by: .seconds(5))
        _ = try store.becomeCurrent(second, session: "b", offer: second, now: later)
        #expect(store.offers(now: later).map(\.activity.id) == [second, first])
        #expect(store.offers(now: later).map(\.activity.age) == [0, 5])
    }

    @Test func `a resigned activity is unknown under its previous id`() throws {
        var store = try store()
        _ = try store.becomeCurrent(first, session: "a", offer: first, now: start)
        #expect(try store.resign(first, session: "a") == [.offersChanged])
        #expect(store.offered(first) == nil)
        _ = try store.becomeCurrent(first, session: "a", offer: second, now: start)
        #expect(store.offered(second)?.id == first)
    }

    @Test func `another session cannot change an activity`() throws {
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

    @Test func `a change of the payload alone is not announced, a new title is`() throws {
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
        #expect(store.advance(now: start.advanced(by: .seconds(15)), wallClock: 0) == [.requestSave(first)])
    }

    @Test func `while power is saved, saves are rarely requested, but immediately for a continuation`() throws {
        var store = try store()
        store.savesPower = true
        _ = try store.becomeCurrent(first, session: "a", offer: first, now: start)
        _ = try store.update(
            first, session: "a", content: try content(), needsSave: true, answersSave: true, now: start)
        #expect(store.nextDeadline(now: start, wallClock: 0) == .seconds(120))
        #expect(store.advance(now: start.advanced(by: .seconds(15)), wallClock: 0) == [])
        #expect(store.requestSave(of: first, now: start.advanced(by: .seconds(15))) == [.requestSave(first)])
    }

    @Test func `without unsaved changes there is no deadline`() throws {
        var store = try store(needsSave: false)
        _ = try store.becomeCurrent(first, session: "a", offer: first, now: start)
        #expect(store.nextDeadline(now: start, wallClock: 0) == nil)
    }

    @Test func `an owner that did not answer is asked again on the next occasion`() throws {
        var store = try store()
        _ = try store.becomeCurrent(first, session: "a", offer: first, now: start)
        store.saveTimedOut(first, now: start)
        #expect(store.requestSave(of: first, now: start) == [.requestSave(first)])
        #expect(store.requestSave(of: first, now: start) == [], "one request at a time")
    }

    @Test func `an expired activity is withdrawn, and its owner is notified`() throws {
        var store = ActivityStore(refreshInterval: .seconds(15))
        var expiring = try content()
        expiring.expiration = 100
        try store.publish(expiring, id: first, session: "a", group: .process(1), needsSave: false, answersSaves: true)
        _ = try store.becomeCurrent(first, session: "a", offer: first, now: start)
        #expect(store.nextDeadline(now: start, wallClock: 90) == .seconds(10))
        #expect(store.advance(now: start, wallClock: 99) == [])
        #expect(store.advance(now: start, wallClock: 100) == [.withdrawn(first, session: "a"), .offersChanged])
        #expect(store.offers(now: start).isEmpty)
    }

    @Test(arguments: [Double.infinity, -Double.infinity, Double.nan, 1e308, -1e308])
    func `no expiration date traps`(date: Double) throws {
        var store = ActivityStore(refreshInterval: .seconds(15))
        var odd = try content()
        odd.expiration = date
        try store.publish(odd, id: first, session: "a", group: .process(1), needsSave: false, answersSaves: true)
        _ = try store.becomeCurrent(first, session: "a", offer: first, now: start)
        let wait = try #require(store.nextDeadline(now: start, wallClock: 0))
        #expect(wait >= .zero && wait <= .seconds(86_400))
    }

    @Test func `an activity that is not eligible is not offered`() throws {
        var store = ActivityStore(refreshInterval: .seconds(15))
        var shy = try content()
        shy.isEligibleForHandoff = false
        try store.publish(shy, id: first, session: "a", group: .process(1), needsSave: false, answersSaves: true)
        _ = try store.becomeCurrent(first, session: "a", offer: first, now: start)
        #expect(store.offers(now: start).isEmpty)
    }

    @Test func `at the limit, the activity with the oldest last use is replaced`() throws {
        var store = try store()
        func id(_ number: Int) -> ActivityID { ActivityID(checked: Array(repeating: UInt8(number), count: 16)) }
        func publish(_ number: Int, bytes: Int = 0) throws -> [ActivityStore.Effect] {
            try store.publish(
                try content(), id: id(number), session: "a", group: .process(1), needsSave: false, answersSaves: true,
                bytes: bytes)
        }
        try store.publish(
            try content(), id: id(200), session: "b", group: .process(1), needsSave: false, answersSaves: true)
        for number in 2...ActivityStore.maxPerSession { #expect(try publish(number) == []) }
        // The first one is current. The second was current after the third was published.
        _ = try store.becomeCurrent(id(2), session: "a", offer: id(102), now: start)
        _ = try store.becomeCurrent(first, session: "a", offer: first, now: start)
        #expect(try publish(65) == [.withdrawn(id(3), session: "a")])
        #expect(try publish(66) == [.withdrawn(id(4), session: "a")])
        // A refused activity replaces none.
        #expect(throws: ActivityStore.Refusal.tooMuchOfApp) { try publish(67, bytes: ActivityStore.maxBytesPerApp + 1) }
        #expect(store.activity(id(5)) != nil && store.activity(first)?.offer != nil && store.activity(id(2)) != nil)
        #expect(store.activities(of: "a").count == ActivityStore.maxPerSession)
        #expect(store.activity(id(200)) != nil)
    }

    @Test func `an activity without a date ends after too long without an update`() throws {
        var store = ActivityStore(refreshInterval: .seconds(15), lifetime: .seconds(60))
        for (id, date) in [(first, nil), (second, 1e9)] as [(ActivityID, Double?)] {
            var content = try content()
            content.expiration = date
            let session = id == first ? "a" : "b"
            try store.publish(
                content, id: id, session: session, group: .process(1), needsSave: false, answersSaves: true)
            _ = try store.becomeCurrent(id, session: session, offer: id, now: start)
        }
        #expect(store.nextDeadline(now: start, wallClock: 0) == .seconds(60))
        #expect(store.advance(now: start.advanced(by: .seconds(59)), wallClock: 0) == [])
        _ = try store.update(
            first, session: "a", content: try content("new"), needsSave: nil, answersSave: false,
            now: start.advanced(by: .seconds(59)))
        #expect(store.advance(now: start.advanced(by: .seconds(118)), wallClock: 0) == [])
        #expect(
            store.advance(now: start.advanced(by: .seconds(119)), wallClock: 0) == [
                .withdrawn(first, session: "a"), .offersChanged,
            ])
        #expect(store.activity(second)?.offer != nil)
    }
}
