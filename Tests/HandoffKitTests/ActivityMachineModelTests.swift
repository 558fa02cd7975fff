import Foundation
import HandoffControl
import HandoffJSON
import HandoffKit
import HandoffModel
import HandoffTestSupport
import Testing

/// Runs random orders of events of an app, its callback queue, the loop and the daemon. At the end
/// the daemon must have the same state as the app.
@Suite struct ActivityMachineModelTests {
    @Test(arguments: 0..<3 as Range<UInt64>)
    func `the daemon finally has the same state as the app`(part: UInt64) {
        for seed in part * 500..<(part + 1) * 500 {
            var world = World(seed: seed)
            for _ in 0..<200 { world.step() }
            world.settle()
            guard let problem = world.problem else { continue }
            Issue.record("seed \(seed): \(problem)")
            return
        }
    }
}

/// An app with three activities, and a daemon that replies in order, but late.
private struct World {
    private struct Activity {
        var title = 0
        var page = 0
        var saved = 0
        var needsSave = true
        var hasEnded = false
    }

    private enum Answer {
        case published(ActivityID)
        case done
        case refused
    }

    private struct Published {
        let key: UUID
        var title: String
        var page: Int64
        var needsSave: Bool
        var isSaveRequested = false
    }

    private var random: SplitMix
    private var machine = ActivityMachine()
    private var keys = [UUID(), UUID(), UUID()]
    private var activities: [UUID: Activity] = [:]
    private var current: UUID?
    private var syncs: [UUID] = []
    private var saves: [UUID] = []
    private var running: UUID?

    private var isAttached = false
    private var published: [ActivityID: Published] = [:]
    private var offered: ActivityID?
    private var calls: [(UUID, ActivityMachine.Call)] = []
    private var answers: [(UUID, ActivityMachine.Call, Answer)] = []
    private var saveRequests: [ActivityID] = []
    private var count: UInt8 = 0
    private var isSettled = false

    init(seed: UInt64) {
        random = SplitMix(state: seed)
        for key in keys { activities[key] = Activity() }
    }

    /// The inconsistency after everything has settled; nil if there is none.
    var problem: String? {
        if !isSettled { return "it does not settle" }
        let leftovers = published.values.count { activities[$0.key]?.hasEnded != false }
        if leftovers > 0 { return "\(leftovers) ended activities are still published" }
        let there = offered.flatMap { published[$0] }
        if let activity = current.flatMap({ activities[$0] }), Self.isRefused("\(activity.title)") {
            return there.map { "\($0.title) is offered, although \(activity.title) was refused" }
        }
        guard there?.key == current else { return "another activity is current" }
        guard let there, let activity = activities[there.key] else { return nil }
        if there.title != "\(activity.title)" { return "the title is \(there.title), not \(activity.title)" }
        if there.page != activity.saved { return "the page is \(there.page), not \(activity.saved)" }
        return there.needsSave ? "it was not saved" : nil
    }

    mutating func step() {
        let key = keys[random.next(keys.count)]
        switch random.next(24) {
        case 0, 1: becomeCurrent(key)
        case 2: if current == key { resign() }
        case 3, 4: change(key) { $0.title += 1 }
        case 5, 6:
            change(key) {
                $0.page += 1
                $0.needsSave = true
            }
        case 7 where random.next(6) == 0: end(key)
        case 8 where random.next(4) == 0: detach()
        case 9, 10: if !isAttached { attach() }
        default: work(random.next(6))
        }
    }

    /// Attaches the daemon, and runs until everything has settled.
    mutating func settle() {
        if !isAttached { attach() }
        for _ in 0..<500 where !isSettled { isSettled = !(0..<6).contains { work($0) } }
    }

    // MARK: The app

    private mutating func becomeCurrent(_ key: UUID) {
        guard activities[key]?.hasEnded == false else { return }
        current = key
        perform(machine.becameCurrent(key))
    }

    private mutating func resign() {
        guard let key = current else { return }
        current = nil
        perform(machine.resigned(key))
    }

    private mutating func end(_ key: UUID) {
        activities[key]?.hasEnded = true
        if current == key { current = nil }
        perform(machine.ended(key))
        let next = UUID()
        activities[next] = Activity()
        keys = keys.map { $0 == key ? next : $0 }
    }

    private mutating func change(_ key: UUID, _ body: (inout Activity) -> Void) {
        guard var activity = activities[key], !activity.hasEnded, running != key else { return }
        body(&activity)
        activities[key] = activity
        perform(machine.changed(key))
    }

    private mutating func perform(_ actions: [ActivityMachine.Action]) {
        for action in actions {
            switch action {
            case .save(let key): saves.append(key)
            case .sync(let key): syncs.append(key)
            }
        }
    }

    // MARK: Deferred work

    @discardableResult
    private mutating func work(_ kind: Int) -> Bool {
        switch kind {
        case 0: save()
        case 1: sync()
        case 2: serve()
        case 3: answer()
        case 4: requestSave()
        default: deliverSaveRequest()
        }
    }

    private mutating func save() -> Bool {
        if let key = running {
            running = nil
            if let page = activities[key]?.page { activities[key]?.saved = page }
            perform(machine.saveEnded(key))
            return true
        }
        guard !saves.isEmpty else { return false }
        let key = saves.removeFirst()
        guard machine.saveStarted(key) else { return true }
        activities[key]?.needsSave = false
        running = key
        return true
    }

    private mutating func sync() -> Bool {
        guard !syncs.isEmpty else { return false }
        let key = syncs.removeFirst()
        let activity = activities[key]
        var description: ActivityDescription?
        if let activity, !activity.hasEnded {
            description = ActivityDescription(type: "a.b")
            description?.title = "\(activity.title)"
            description?.userInfo = ["page": .integer(Int64(activity.saved))]
            description?.isEligibleForHandoff = true
        }
        if let call = machine.nextCall(key, description, needsSave: activity?.needsSave ?? false) {
            calls.append((key, call))
        }
        return true
    }

    // MARK: The daemon

    private mutating func attach() {
        isAttached = true
        perform(machine.attached())
    }

    private mutating func detach() {
        guard isAttached else { return }
        isAttached = false
        published = [:]
        offered = nil
        calls = []
        answers = []
        saveRequests = []
        machine.detached()
    }

    private mutating func serve() -> Bool {
        guard !calls.isEmpty else { return false }
        let (key, call) = calls.removeFirst()
        var answer = Answer.done
        switch call {
        case .publish(let description) where Self.isRefused(description.title): return refuse(key, call)
        case .update(_, let change) where Self.isRefused(change.title): return refuse(key, call)
        case .answerSave(let id, let change) where Self.isRefused(change.title):
            published[id]?.isSaveRequested = false
            return refuse(key, call)
        case .publish(let description):
            count &+= 1
            let id = Sample.activityID(count)
            published[id] = Published(
                key: key, title: description.title ?? "",
                page: description.userInfo?["page"]?.integer ?? -1, needsSave: description.needsSave ?? true)
            answer = .published(id)
        case .update(let id, let change): apply(change, to: id)
        case .answerSave(let id, let change):
            apply(change, to: id)
            published[id]?.isSaveRequested = false
        case .becomeCurrent(let id):
            offered = id
        case .resignCurrent(let id): if offered == id { offered = nil }
        case .invalidate(let id):
            published[id] = nil
            if offered == id { offered = nil }
        }
        answers.append((key, call, answer))
        return true
    }

    /// The daemon refuses every fifth title.
    private static func isRefused(_ title: String?) -> Bool {
        title.flatMap { Int($0) }.map { $0 % 5 == 4 } ?? false
    }

    private mutating func refuse(_ key: UUID, _ call: ActivityMachine.Call) -> Bool {
        answers.append((key, call, .refused))
        return true
    }

    private mutating func apply(_ change: ActivityChange, to id: ActivityID) {
        if let title = change.title { published[id]?.title = title }
        if let page = change.userInfo?["page"]?.integer { published[id]?.page = page }
        if let needsSave = change.needsSave { published[id]?.needsSave = needsSave }
    }

    private mutating func answer() -> Bool {
        guard !answers.isEmpty else { return false }
        let (key, call, answer) = answers.removeFirst()
        switch answer {
        case .published(let id): perform(machine.published(key, as: id))
        case .done: perform(machine.succeeded(key, call))
        case .refused: perform(machine.failed(key, call, .refused))
        }
        return true
    }

    /// The daemon requests a save of the offered activity.
    private mutating func requestSave() -> Bool {
        guard let id = offered, let activity = published[id] else { return false }
        guard activity.needsSave, !activity.isSaveRequested else { return false }
        published[id]?.needsSave = false
        published[id]?.isSaveRequested = true
        saveRequests.append(id)
        return true
    }

    private mutating func deliverSaveRequest() -> Bool {
        guard !saveRequests.isEmpty else { return false }
        let id = saveRequests.removeFirst()
        guard let key = machine.key(of: id) else { return true }
        perform(machine.saveRequested(key, needsSave: activities[key]?.needsSave ?? false))
        return true
    }
}

/// A small generator, so that a seed reproduces a run (SplitMix64).
private struct SplitMix {
    var state: UInt64

    mutating func next(_ bound: Int) -> Int {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return Int((mixed ^ (mixed >> 31)) % UInt64(bound))
    }
}
