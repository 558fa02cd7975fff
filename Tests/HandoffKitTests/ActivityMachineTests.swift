import Foundation
import HandoffControl
import HandoffJSON
import HandoffKit
import HandoffModel
import HandoffTestSupport
import Testing

@Suite struct ActivityMachineTests {
    private let key = UUID()
    private let other = UUID()
    private let id = Sample.activityID(1)
    private let otherID = Sample.activityID(2)
    private let machine = DrivenMachine()

    private func description(_ title: String = "", isEligible: Bool = true) -> ActivityDescription {
        var description = ActivityDescription(type: "com.example.editing")
        description.title = title
        description.userInfo = [:]
        description.isEligibleForHandoff = isEligible
        return description
    }

    private func change(_ body: (inout ActivityChange) -> Void) -> ActivityChange {
        var change = ActivityChange()
        body(&change)
        return change
    }

    /// Attaches, makes the activity current, and replies until there is nothing to send.
    private func begin() {
        _ = machine.attached()
        _ = machine.becameCurrent(key)
        #expect(machine.saveStarted(key))
        _ = machine.saveEnded(key)
        _ = machine.nextCall(key, description(), needsSave: false)
        _ = machine.published(key, as: id)
        #expect(machine.nextCall(key, description(), needsSave: false) == .becomeCurrent(id))
        _ = machine.succeeded(key, .becomeCurrent(id))
        #expect(machine.nextCall(key, description(), needsSave: false) == nil)
    }

    @Test func `becoming current is one save and one sync`() {
        #expect(machine.becameCurrent(key) == [.save(key), .sync(key)])
        #expect(machine.becameCurrent(key) == [])
        #expect(machine.isCurrent(key))
        #expect(machine.saveStarted(key))
        #expect(!machine.saveStarted(key), "one request is one save")
    }

    @Test func `becoming current again before the save starts is still one save`() {
        _ = machine.becameCurrent(key)
        _ = machine.resigned(key)
        #expect(machine.becameCurrent(key).filter { $0 == .save(key) }.isEmpty)
        #expect(machine.saveStarted(key))
        _ = machine.saveEnded(key)
        _ = machine.resigned(key)
        #expect(machine.becameCurrent(key).contains(.save(key)))
    }

    @Test func `changes cause one sync until it is done`() {
        #expect(machine.changed(key) == [], "never current: nothing is sent")
        begin()
        #expect(machine.changed(key) == [.sync(key)])
        #expect(machine.changed(key) == [])
        _ = machine.nextCall(key, description(), needsSave: false)
        #expect(machine.changed(key) == [.sync(key)])
    }

    @Test func `only one call is in flight`() {
        begin()
        #expect(machine.nextCall(key, description("a"), needsSave: false) == .update(id, change { $0.title = "a" }))
        #expect(machine.nextCall(key, description("b"), needsSave: true) == nil)
        #expect(machine.succeeded(key, .update(id, ActivityChange())) == [.sync(key)])
        #expect(
            machine.nextCall(key, description("b"), needsSave: true)
                == .update(
                    id,
                    change {
                        $0.title = "b"
                        $0.needsSave = true
                    }))
    }

    @Test func `a save is answered once the app has saved`() {
        begin()
        #expect(machine.saveRequested(key, needsSave: true) == [.save(key)])
        #expect(machine.nextCall(key, description(), needsSave: true) == nil, "a save is already requested")
        #expect(machine.saveStarted(key))
        _ = machine.saveEnded(key)
        #expect(machine.nextCall(key, description(), needsSave: false) == .answerSave(id, ActivityChange()))
        _ = machine.succeeded(key, .answerSave(id, ActivityChange()))
        #expect(machine.nextCall(key, description(), needsSave: false) == nil)
    }

    @Test func `nothing is sent during a save`() {
        _ = machine.attached()
        _ = machine.becameCurrent(key)
        #expect(machine.saveStarted(key))
        #expect(machine.nextCall(key, description("half"), needsSave: false) == nil)
        #expect(machine.saveEnded(key) == [.sync(key)])
        var whole = description("whole")
        whole.needsSave = false
        #expect(machine.nextCall(key, description("whole"), needsSave: false) == .publish(whole))
    }

    @Test func `a save without changes does not cause later user info to be sent`() {
        begin()
        _ = machine.resigned(key)
        _ = machine.becameCurrent(key)
        #expect(machine.saveStarted(key))
        _ = machine.saveEnded(key)
        #expect(machine.nextCall(key, description(), needsSave: false) == nil)
        var unsaved = description("title")
        unsaved.userInfo = ["page": 1]
        #expect(machine.nextCall(key, unsaved, needsSave: false) == .update(id, change { $0.title = "title" }))
    }

    @Test func `changes during a save are sent in the reply`() {
        begin()
        _ = machine.saveRequested(key, needsSave: true)
        #expect(machine.saveStarted(key))
        _ = machine.saveEnded(key)
        #expect(
            machine.nextCall(key, description(), needsSave: true) == .answerSave(id, change { $0.needsSave = true }))
    }

    @Test func `a refused change withdraws the activity and the next change publishes it completely`() {
        begin()
        // Unsaved user info does not trigger another attempt.
        var long = description("long")
        long.userInfo = ["page": 1]
        let update = machine.nextCall(key, long, needsSave: false)
        #expect(update == .update(id, change { $0.title = "long" }))
        #expect(machine.failed(key, .update(id, ActivityChange()), .refused) == [.sync(key)])
        #expect(machine.nextCall(key, long, needsSave: false) == .invalidate(id))
        #expect(machine.succeeded(key, .invalidate(id)) == [.sync(key)])
        #expect(machine.nextCall(key, long, needsSave: false) == nil)
        #expect(machine.isCurrent(key))
        var short = description("short")
        short.needsSave = false
        #expect(machine.nextCall(key, description("short"), needsSave: false) == .publish(short))
        _ = machine.published(key, as: otherID)
        #expect(machine.nextCall(key, description("short"), needsSave: false) == .becomeCurrent(otherID))
    }

    @Test func `a refused answer to a save withdraws the activity`() {
        begin()
        _ = machine.saveRequested(key, needsSave: true)
        #expect(machine.saveStarted(key))
        _ = machine.saveEnded(key)
        var large = description()
        large.userInfo = ["page": 1]
        let answer = ActivityMachine.Call.answerSave(id, change { $0.userInfo = ["page": 1] })
        #expect(machine.nextCall(key, large, needsSave: false) == answer)
        _ = machine.failed(key, answer, .refused)
        #expect(machine.nextCall(key, large, needsSave: false) == .invalidate(id))
        // The activity has expired in the daemon.
        #expect(machine.failed(key, .invalidate(id), .unknownActivity) == [.sync(key)])
        #expect(machine.nextCall(key, large, needsSave: false) == nil)
        guard case .publish = machine.nextCall(key, description(), needsSave: false) else {
            Issue.record("not published")
            return
        }
    }

    @Test func `an activity that is withdrawn after a refusal and ends is removed`() {
        begin()
        _ = machine.nextCall(key, description("long"), needsSave: false)
        _ = machine.failed(key, .update(id, ActivityChange()), .refused)
        _ = machine.ended(key)
        #expect(machine.nextCall(key, nil, needsSave: false) == .invalidate(id))
        _ = machine.succeeded(key, .invalidate(id))
        #expect(machine.nextCall(key, nil, needsSave: false) == nil)
        #expect(machine.changed(key) == [])
    }

    @Test func `hiding is sent separately from other changes`() {
        begin()
        let hide = ActivityMachine.Call.update(id, change { $0.isEligibleForHandoff = false })
        #expect(machine.nextCall(key, description("long", isEligible: false), needsSave: false) == hide)
        _ = machine.succeeded(key, hide)
        #expect(
            machine.nextCall(key, description("long", isEligible: false), needsSave: false)
                == .update(id, change { $0.title = "long" }))
    }

    @Test func `a call that is always refused is not repeated indefinitely`() {
        begin()
        _ = machine.resigned(key)
        #expect(machine.nextCall(key, description(), needsSave: false) == .resignCurrent(id))
        _ = machine.failed(key, .resignCurrent(id), .refused)
        #expect(machine.nextCall(key, description(), needsSave: false) == nil)
    }

    @Test func `the replaced activity resigns only when the new one is refused`() {
        begin()
        #expect(machine.becameCurrent(other) == [.save(other), .sync(other), .sync(key)])
        #expect(machine.nextCall(key, description(), needsSave: false) == nil)
        guard case .publish = machine.nextCall(other, description(), needsSave: true) else {
            Issue.record("not published")
            return
        }
        let refused = machine.copy()
        #expect(Set(refused.failed(other, .publish(description()), .refused).map { "\($0)" }).count == 2)
        #expect(refused.nextCall(key, description(), needsSave: false) == .resignCurrent(id))
        _ = machine.published(other, as: otherID)
        #expect(machine.key(of: otherID) == other)
        #expect(machine.nextCall(other, description(), needsSave: true) == .becomeCurrent(otherID))
        _ = machine.succeeded(other, .becomeCurrent(otherID))
        #expect(machine.nextCall(key, description(), needsSave: false) == nil, "the daemon has one current activity")
    }

    @Test func `an activity that was replaced during a call becomes current again`() {
        begin()
        _ = machine.becameCurrent(other)
        _ = machine.nextCall(other, description(), needsSave: true)
        _ = machine.published(other, as: otherID)
        #expect(machine.nextCall(other, description(), needsSave: true) == .becomeCurrent(otherID))
        let update = ActivityMachine.Call.update(id, change { $0.title = "title" })
        #expect(machine.nextCall(key, description("title"), needsSave: false) == update)
        _ = machine.succeeded(other, .becomeCurrent(otherID))
        _ = machine.succeeded(key, update)
        _ = machine.becameCurrent(key)
        #expect(machine.saveStarted(key))
        _ = machine.saveEnded(key)
        #expect(machine.nextCall(key, description("title"), needsSave: false) == .becomeCurrent(id))
        // Replies arrive in the order of the calls: the last one applies.
        _ = machine.becameCurrent(other)
        _ = machine.succeeded(key, .becomeCurrent(id))
        #expect(machine.nextCall(other, description(), needsSave: true) == .becomeCurrent(otherID))
        _ = machine.succeeded(other, .becomeCurrent(otherID))
        #expect(machine.nextCall(other, description(), needsSave: true) == nil)
        #expect(machine.nextCall(key, description("title"), needsSave: false) == nil)
    }

    @Test func `an ended activity is invalidated and removed`() {
        begin()
        #expect(machine.ended(key) == [.sync(key)])
        #expect(!machine.isCurrent(key))
        #expect(machine.nextCall(key, nil, needsSave: false) == .invalidate(id))
        _ = machine.succeeded(key, .invalidate(id))
        #expect(machine.nextCall(key, nil, needsSave: false) == nil)
        #expect(machine.changed(key) == [])
    }

    @Test func `an activity that ends during publishing is invalidated afterwards`() {
        _ = machine.attached()
        _ = machine.becameCurrent(key)
        _ = machine.nextCall(key, description(), needsSave: true)
        _ = machine.ended(key)
        #expect(!machine.saveStarted(key))
        #expect(machine.nextCall(key, nil, needsSave: false) == nil)
        #expect(machine.published(key, as: id) == [.sync(key)])
        #expect(machine.nextCall(key, nil, needsSave: false) == .invalidate(id))
    }

    @Test func `the current activity is published again after the daemon reconnects`() {
        begin()
        machine.detached()
        #expect(machine.nextCall(key, description("new"), needsSave: true) == nil)
        #expect(machine.saveRequested(key, needsSave: true) == [])
        #expect(machine.attached() == [.sync(key)])
        var published = description("new")
        published.needsSave = true
        #expect(machine.nextCall(key, description("new"), needsSave: true) == .publish(published))
    }

    @Test func `a save request of the former daemon is not answered`() {
        begin()
        _ = machine.saveRequested(key, needsSave: true)
        #expect(machine.saveStarted(key))
        machine.detached()
        _ = machine.attached()
        _ = machine.saveEnded(key)
        _ = machine.nextCall(key, description(), needsSave: false)
        _ = machine.published(key, as: otherID)
        #expect(machine.nextCall(key, description(), needsSave: false) == .becomeCurrent(otherID))
    }

    @Test func `an expired activity is not current any more`() {
        begin()
        _ = machine.withdrawn(key, description())
        #expect(!machine.isCurrent(key))
        #expect(machine.nextCall(key, description(), needsSave: false) == nil)
        #expect(machine.becameCurrent(key).contains(.save(key)))
    }

    /// A description with a later date, which the daemon has not received.
    private var later: ActivityDescription {
        var description = description()
        description.expirationDate = 1000
        return description
    }

    @Test func `an activity whose date was changed before it expired stays current`() {
        begin()
        _ = machine.withdrawn(key, later)
        #expect(machine.isCurrent(key))
        guard case .publish? = machine.nextCall(key, later, needsSave: false) else {
            Issue.record("it is published again")
            return
        }
    }

    @Test func `a late date change publishes again only once`() throws {
        begin()
        let call = try #require(machine.nextCall(key, later, needsSave: false))
        _ = machine.failed(key, call, .unknownActivity)
        #expect(machine.isCurrent(key))
        guard case .publish? = machine.nextCall(key, later, needsSave: false) else {
            Issue.record("it is published again")
            return
        }
        _ = machine.published(key, as: otherID)
        let next = try #require(machine.nextCall(key, later, needsSave: false))
        _ = machine.failed(key, next, .unknownActivity)
        #expect(!machine.isCurrent(key))
    }

    @Test func `a reply about a withdrawn activity is ignored`() throws {
        begin()
        let call = try #require(machine.nextCall(key, description("new"), needsSave: false))
        _ = machine.withdrawn(key, description("new"))
        _ = machine.becameCurrent(key)
        #expect(machine.nextCall(key, description("new"), needsSave: false) != nil)
        // A reply to an earlier call.
        #expect(machine.failed(key, call, .unknownActivity) == [])
        #expect(machine.succeeded(key, call) == [])
        #expect(machine.isCurrent(key))
        _ = machine.published(key, as: otherID)
        #expect(machine.nextCall(key, description("new"), needsSave: false) == .becomeCurrent(otherID))
    }

    @Test func `a lost call waits for the end of the session`() {
        begin()
        _ = machine.nextCall(key, description("a"), needsSave: false)
        #expect(machine.failed(key, .update(id, ActivityChange()), .lost) == [])
        #expect(machine.nextCall(key, description("b"), needsSave: false) == nil)
    }
}

/// The machine as an object, because the macros of a test cannot mutate a value.
private final class DrivenMachine {
    typealias Actions = [ActivityMachine.Action]
    private var machine = ActivityMachine()

    func copy() -> DrivenMachine {
        let copy = DrivenMachine()
        copy.machine = machine
        return copy
    }

    func isCurrent(_ key: UUID) -> Bool { machine.isCurrent(key) }
    func key(of id: ActivityID) -> UUID? { machine.key(of: id) }
    func becameCurrent(_ key: UUID) -> Actions { machine.becameCurrent(key) }
    func resigned(_ key: UUID) -> Actions { machine.resigned(key) }
    func ended(_ key: UUID) -> Actions { machine.ended(key) }
    func changed(_ key: UUID) -> Actions { machine.changed(key) }
    func saveStarted(_ key: UUID) -> Bool { machine.saveStarted(key) }
    func saveEnded(_ key: UUID) -> Actions { machine.saveEnded(key) }
    func attached() -> Actions { machine.attached() }
    func detached() { machine.detached() }
    func saveRequested(_ key: UUID, needsSave: Bool) -> Actions { machine.saveRequested(key, needsSave: needsSave) }
    func withdrawn(_ key: UUID, _ description: ActivityDescription?) -> Actions { machine.withdrawn(key, description) }
    func published(_ key: UUID, as id: ActivityID) -> Actions { machine.published(key, as: id) }
    func succeeded(_ key: UUID, _ call: ActivityMachine.Call) -> Actions { machine.succeeded(key, call) }

    func failed(_ key: UUID, _ call: ActivityMachine.Call, _ failure: ActivityMachine.CallFailure) -> Actions {
        machine.failed(key, call, failure)
    }

    func nextCall(_ key: UUID, _ description: ActivityDescription?, needsSave: Bool) -> ActivityMachine.Call? {
        machine.nextCall(key, description, needsSave: needsSave)
    }
}
