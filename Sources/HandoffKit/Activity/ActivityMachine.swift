import Foundation
package import HandoffControl
package import HandoffModel

/// Decides for all activities of an app what the daemon is told and when the app is asked to save. A plain value: its owner
/// holds a lock around each call, and performs the actions after it.
///
/// Towards the app it does what Apple's class does: one save request after an activity became current, none when it was
/// current already. Towards the daemon it compares what should be with what was told, and makes one call after the other, so
/// that changes in quick succession become one.
///
/// Diagram: `docs/state-machines/activity-machine.md`.
package struct ActivityMachine: Sendable {
    /// What identifies an activity inside the app.
    package typealias Key = UUID

    /// What the owner does.
    package enum Action: Equatable, Sendable {
        /// Ask the app, on the callback queue, to bring the activity up to date: `saveBegan`, its methods, `saveEnded`.
        case save(Key)
        /// Ask `nextCall` on the loop's thread.
        case sync(Key)
    }

    /// A call on the daemon; answered by one of `published`, `succeeded` and `failed`.
    package enum Call: Equatable, Sendable {
        case publish(ActivityDescription)
        case update(ActivityID, ActivityChange)
        case becomeCurrent(ActivityID)
        case resignCurrent(ActivityID)
        case answerSave(ActivityID, ActivityChange)
        case invalidate(ActivityID)
    }

    /// Why a call failed.
    package enum CallFailure: Equatable, Sendable {
        /// The daemon refused what the activity says, or a limit was reached: not sent again until something changes.
        case refused
        /// The daemon does not have the activity any more.
        case unknownActivity
        /// The connection or the session ended; `detached` follows, or came.
        case lost
    }

    private var entries: [Key: Entry] = [:]
    private var current: Key?
    private var isAttached = false

    /// A machine without activities; the daemon is away.
    package init() {}

    /// Whether this is the activity that the user is engaged in.
    package func isCurrent(_ key: Key) -> Bool { current == key }

    /// Which activity has this id in the daemon; nil for one that it does not know.
    package func key(of id: ActivityID) -> Key? {
        entries.first { $0.value.remote.id == id }?.key
    }

    // MARK: From the app

    /// The activity became current.
    package mutating func becameCurrent(_ key: Key) -> [Action] {
        guard current != key else { return [] }
        let former = current
        current = key
        var entry = entries[key] ?? Entry()
        var actions: [Action] = []
        if case .idle = entry.save {
            entry.save = .scheduled(daemonWaits: false)
            actions.append(.save(key))
        }
        entries[key] = entry
        actions += sync(key)
        if let former { actions += sync(former) }
        return actions
    }

    /// The activity is not current any more.
    package mutating func resigned(_ key: Key) -> [Action] {
        guard current == key else { return [] }
        current = nil
        return sync(key)
    }

    /// The activity has ended for good.
    package mutating func ended(_ key: Key) -> [Action] {
        if current == key { current = nil }
        guard entries[key] != nil else { return [] }
        entries[key]?.hasEnded = true
        return sync(key)
    }

    /// Something about the activity has changed, `needsSave` too.
    package mutating func changed(_ key: Key) -> [Action] { sync(key) }

    /// The `userInfo` of the activity has changed, which travels with a save only. After a refusal it is another attempt.
    package mutating func userInfoChanged(_ key: Key) -> [Action] {
        switch entries[key]?.remote {
        case .refused, .withdrawing: sync(key)
        case .unknown, .publishing, .published, nil: []
        }
    }

    /// The callback queue has got to a save.
    /// - Returns: whether the app is asked.
    package mutating func saveBegan(_ key: Key) -> Bool {
        guard var entry = entries[key], !entry.hasEnded else { return false }
        guard case .scheduled(let daemonWaits) = entry.save else { return false }
        entry.save = .running(daemonWaits: daemonWaits)
        entries[key] = entry
        return true
    }

    /// The app's methods have returned.
    package mutating func saveEnded(_ key: Key) -> [Action] {
        guard var entry = entries[key], case .running(let daemonWaits) = entry.save else { return [] }
        entry.save = .idle
        entry.hasSaved = true
        if daemonWaits { entry.owesAnswer = true }
        entries[key] = entry
        return sync(key)
    }

    // MARK: From the daemon

    /// The app is attached; the daemon knows none of its activities.
    package mutating func attached() -> [Action] {
        isAttached = true
        guard let current else { return [] }
        // Asked for in any case: what was due may have been lost with a loop that could not be made.
        entries[current]?.isSyncDue = true
        return [.sync(current)]
    }

    /// The daemon went away, and with it what it knew.
    package mutating func detached() {
        isAttached = false
        for key in entries.keys {
            entries[key]?.remote = .unknown
            entries[key]?.isBusy = false
            entries[key]?.pending = nil
            entries[key]?.owesAnswer = false
            switch entries[key]?.save {
            case .scheduled: entries[key]?.save = .scheduled(daemonWaits: false)
            case .running: entries[key]?.save = .running(daemonWaits: false)
            case .idle, nil: break
            }
        }
        entries = entries.filter { !$0.value.hasEnded }
    }

    /// The daemon asks for the latest state.
    /// - Parameter needsSave: whether the activity has news that were not saved.
    package mutating func saveAsked(_ key: Key, needsSave: Bool) -> [Action] {
        guard var entry = entries[key], case .published(let id, var told) = entry.remote else { return [] }
        // Asking clears it there.
        told.needsSave = false
        entry.remote = .published(id, told)
        entry.pending?.needsSave = false
        var actions: [Action] = []
        switch entry.save {
        case .idle where needsSave:
            entry.save = .scheduled(daemonWaits: true)
            actions.append(.save(key))
        case .idle:
            // Saved since the daemon was told of news: there is an answer already.
            entry.owesAnswer = true
        case .scheduled: entry.save = .scheduled(daemonWaits: true)
        case .running: entry.save = .running(daemonWaits: true)
        }
        entries[key] = entry
        return actions + (entry.owesAnswer ? sync(key) : [])
    }

    /// The daemon ended the activity: it expired.
    /// - Parameter description: what the activity says now. One that was given another date meanwhile stays current.
    package mutating func withdrawn(_ key: Key, _ description: ActivityDescription?) -> [Action] {
        if case .withdrawing(_, let refused)? = entries[key]?.remote, entries[key]?.hasEnded == false {
            entries[key]?.remote = .refused(refused)
            return sync(key)
        }
        var hasExpired = true
        if let description, case .published(_, let told)? = entries[key]?.remote {
            hasExpired = description.expirationDate == told.description.expirationDate
        }
        return withdrawn(key, hasExpired: hasExpired)
    }

    private mutating func withdrawn(_ key: Key, hasExpired: Bool) -> [Action] {
        if entries[key]?.hasEnded == true {
            entries[key] = nil
        } else {
            entries[key]?.remote = .unknown
            entries[key]?.isBusy = false
            entries[key]?.pending = nil
            entries[key]?.owesAnswer = false
        }
        if current == key, hasExpired { current = nil }
        // One that it was to replace may still be the current one there.
        return entries.keys.flatMap { sync($0) }
    }

    /// `Publish` was answered.
    package mutating func published(_ key: Key, as id: ActivityID) -> [Action] {
        guard var entry = entries[key], case .publishing(let told) = entry.remote else { return [] }
        entry.remote = .published(id, told)
        entry.isBusy = false
        entries[key] = entry
        return sync(key)
    }

    /// Another call was answered well.
    package mutating func succeeded(_ key: Key, _ call: Call) -> [Action] {
        guard var entry = entries[key], entry.remote.isAbout(call) else { return [] }
        entry.isBusy = false
        if var pending = entry.pending, let id = entry.remote.id {
            // Answers come in the order of the calls, so what another one's answer has said meanwhile was before.
            if case .becomeCurrent = call { pending.isCurrent = true }
            entry.remote = .published(id, pending)
        }
        entry.pending = nil
        entries[key] = entry
        if case .becomeCurrent = call {
            // The daemon has one current activity for each app.
            for other in entries.keys where other != key {
                entries[other]?.pending?.isCurrent = false
                guard case .published(let id, var told) = entries[other]?.remote else { continue }
                told.isCurrent = false
                entries[other]?.remote = .published(id, told)
            }
        }
        return sync(key)
    }

    /// A call failed.
    package mutating func failed(_ key: Key, _ call: Call, _ failure: CallFailure) -> [Action] {
        guard var entry = entries[key], entry.remote.isAbout(call) else { return [] }
        entry.isBusy = false
        var hasExpired = true
        if let pending = entry.pending, case .published(_, let told) = entry.remote {
            hasExpired = pending.description.expirationDate == told.description.expirationDate
        }
        switch (failure, entry.remote) {
        // `detached` says the rest.
        case (.lost, _): entry.isBusy = true
        case (.refused, .publishing(let told)):
            entry.remote = .refused(told.description)
        case (.refused, .published(let id, let told)):
            guard let pending = entry.pending else { break }
            // Not sent again, or it would be refused permanently.
            let isSame = pending.description == told.description
            entry.remote = isSame ? .published(id, pending) : .withdrawing(id, refused: pending.wanted)
        // It is withdrawn either way.
        case (.unknownActivity, .refused):
            entry.isBusy = false
            entries[key] = entry
            return sync(key)
        case (.refused, _), (.unknownActivity, _): break
        }
        entry.pending = nil
        entries[key] = entry
        switch failure {
        case .lost: return []
        case .unknownActivity: return withdrawn(key, hasExpired: hasExpired)
        // An activity that was to be replaced by a refused one is withdrawn now.
        case .refused: return entries.keys.flatMap { sync($0) }
        }
    }

    // MARK: To the daemon

    /// What the daemon is told next about an activity.
    /// - Parameters:
    ///   - description: what the activity says now; nil when the object has gone.
    ///   - needsSave: whether it has news that were not saved.
    /// - Returns: a call to make, which counts as made; nil when there is nothing to tell now.
    package mutating func nextCall(_ key: Key, _ description: ActivityDescription?, needsSave: Bool) -> Call? {
        guard var entry = entries[key] else { return nil }
        entry.isSyncDue = false
        let call = nextCall(key, &entry, description, needsSave)
        // One that has ended is forgotten once the daemon knows.
        let isOver = entry.hasEnded && !entry.isBusy && entry.remote.id == nil
        entries[key] = isOver ? nil : entry
        return call
    }

    private func nextCall(
        _ key: Key, _ entry: inout Entry, _ description: ActivityDescription?, _ needsSave: Bool
    ) -> Call? {
        guard isAttached, !entry.isBusy else { return nil }
        // The app is in the middle of its state; afterwards there is another sync.
        if case .running = entry.save, !entry.hasEnded { return nil }
        switch entry.remote {
        case .publishing: return nil
        case .withdrawing(let id, let refused):
            entry.remote = entry.hasEnded ? .unknown : .refused(refused)
            entry.isBusy = true
            return .invalidate(id)
        case .refused(let refused):
            guard let description, refused != description else { return nil }
            entry.remote = .unknown
            return publish(key, &entry, description, needsSave)
        case .unknown:
            guard let description else { return nil }
            return publish(key, &entry, description, needsSave)
        case .published(let id, let told):
            if entry.hasEnded {
                entry.remote = .unknown
                entry.isBusy = true
                return .invalidate(id)
            }
            guard let description else { return nil }
            return change(key, &entry, id, told, description, needsSave)
        }
    }

    private func publish(
        _ key: Key, _ entry: inout Entry, _ description: ActivityDescription, _ needsSave: Bool
    ) -> Call? {
        guard current == key, !entry.hasEnded else { return nil }
        var description = description
        let hasNews = entry.hasNews(needsSave: needsSave)
        entry.remote = .publishing(Told(description: description, wanted: description, needsSave: hasNews))
        entry.isBusy = true
        entry.hasSaved = false
        entry.owesAnswer = false
        description.needsSave = hasNews
        return .publish(description)
    }

    private func change(
        _ key: Key, _ entry: inout Entry, _ id: ActivityID, _ told: Told, _ description: ActivityDescription,
        _ needsSave: Bool
    ) -> Call? {
        let sendsUserInfo = entry.owesAnswer || entry.hasSaved
        let hasNews = entry.hasNews(needsSave: needsSave)
        var next = Told(
            description: description, wanted: description, needsSave: hasNews, isCurrent: told.isCurrent)
        if !sendsUserInfo { next.description.userInfo = told.description.userInfo }
        var change = ActivityChange(from: told.description, to: next.description)
        if hasNews != told.needsSave { change.needsSave = hasNews }
        if let isEligible = change.isEligibleForHandoff, !entry.owesAnswer {
            // By itself, so that nothing else can have it refused: the app may have a reason to hide.
            change = ActivityChange()
            change.isEligibleForHandoff = isEligible
            next = told
            next.wanted = description
            next.description.isEligibleForHandoff = isEligible
            return call(.update(id, change), &entry, next)
        }
        if entry.owesAnswer || change != ActivityChange() {
            let answers = entry.owesAnswer
            entry.owesAnswer = false
            entry.hasSaved = false
            return call(answers ? .answerSave(id, change) : .update(id, change), &entry, next)
        }
        entry.hasSaved = false
        guard (current == key) != told.isCurrent else { return nil }
        // One that another activity replaces stays until then: in between the other devices would see none.
        if told.isCurrent, let current, isOnItsWay(current) { return nil }
        next.isCurrent = current == key
        return call(next.isCurrent ? .becomeCurrent(id) : .resignCurrent(id), &entry, next)
    }

    private func call(_ call: Call, _ entry: inout Entry, _ next: Told) -> Call {
        entry.isBusy = true
        entry.pending = next
        return call
    }

    /// Whether the activity is going to be the current one in the daemon, too.
    private func isOnItsWay(_ key: Key) -> Bool {
        switch entries[key]?.remote {
        case .refused, .withdrawing: false
        case .unknown, .publishing, .published, nil: true
        }
    }

    private mutating func sync(_ key: Key) -> [Action] {
        guard let entry = entries[key], !entry.isSyncDue else { return [] }
        entries[key]?.isSyncDue = true
        return [.sync(key)]
    }
}
