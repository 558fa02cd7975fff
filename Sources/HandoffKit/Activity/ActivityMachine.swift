import Foundation
package import HandoffControl
package import HandoffModel

/// Decides, for all activities of an app, which calls go to the daemon and when the app saves. A
/// plain value: its owner holds a lock around each call and performs the returned actions
/// afterwards.
///
/// Towards the app it behaves like Apple's class: it requests one save after an activity becomes
/// current, and none if the activity already was current. Towards the daemon it compares the
/// desired state with the state last sent. It makes one call at a time, so that changes in quick
/// succession become one call.
///
/// ``Entry`` has the diagram of the states of one activity.
package struct ActivityMachine: Sendable {
    /// Identifies an activity within the app.
    package typealias Key = UUID

    /// An action for the owner to perform.
    package enum Action: Equatable, Sendable {
        /// On the callback queue, have the app bring the activity up to date: call `saveStarted`,
        /// the app's methods, then `saveEnded`.
        case save(Key)
        /// Call `nextCall` on the loop's thread.
        case sync(Key)
    }

    /// A call to the daemon. It is completed by `published`, `succeeded` or `failed`.
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
        /// The daemon refused the activity's content, or a limit was reached. The call is not
        /// repeated until something changes.
        case refused
        /// The daemon no longer has the activity.
        case unknownActivity
        /// The connection or the session ended; `detached` follows or was already called.
        case lost
    }

    private var entries: [Key: Entry] = [:]
    private var current: Key?
    private var isAttached = false

    /// Creates a detached machine without activities.
    package init() {}

    /// Returns whether this is the activity the user is engaged in.
    package func isCurrent(_ key: Key) -> Bool { current == key }

    /// Returns the activity with this ID in the daemon, or nil if the ID is unknown.
    package func key(of id: ActivityID) -> Key? {
        entries.first { $0.value.remote.id == id }?.key
    }

    // MARK: From the app

    /// Makes an activity current.
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

    /// Makes an activity resign.
    package mutating func resigned(_ key: Key) -> [Action] {
        guard current == key else { return [] }
        current = nil
        return sync(key)
    }

    /// Ends an activity permanently.
    package mutating func ended(_ key: Key) -> [Action] {
        if current == key { current = nil }
        guard entries[key] != nil else { return [] }
        entries[key]?.hasEnded = true
        return sync(key)
    }

    /// Handles a change of any property, including `needsSave`.
    package mutating func changed(_ key: Key) -> [Action] { sync(key) }

    /// Handles a change of `userInfo`. It is sent only with a save. After a refusal it triggers
    /// another attempt.
    mutating func userInfoChanged(_ key: Key) -> [Action] {
        switch entries[key]?.remote {
        case .refused, .withdrawing: sync(key)
        case .unknown, .publishing, .published, nil: []
        }
    }

    /// Starts a save on the callback queue.
    /// - Returns: whether to call the app's methods.
    package mutating func saveStarted(_ key: Key) -> Bool {
        guard var entry = entries[key], !entry.hasEnded else { return false }
        guard case .scheduled(let daemonWaits) = entry.save else { return false }
        entry.save = .running(daemonWaits: daemonWaits)
        entries[key] = entry
        return true
    }

    /// Ends a save after the app's methods have returned.
    package mutating func saveEnded(_ key: Key) -> [Action] {
        guard var entry = entries[key], case .running(let daemonWaits) = entry.save else { return [] }
        entry.save = .idle
        entry.hasSaved = true
        if daemonWaits { entry.owesAnswer = true }
        entries[key] = entry
        return sync(key)
    }

    // MARK: From the daemon

    /// Handles the attachment of the app. The daemon knows none of its activities.
    package mutating func attached() -> [Action] {
        isAttached = true
        guard let current else { return [] }
        // Sync unconditionally: a due sync may have been lost with a loop that could not be
        // created.
        entries[current]?.isSyncDue = true
        return [.sync(current)]
    }

    /// Handles the loss of the daemon and its state.
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

    /// Handles the daemon's request for the latest state.
    /// - Parameter needsSave: whether the activity has unsaved changes.
    package mutating func saveRequested(_ key: Key, needsSave: Bool) -> [Action] {
        guard var entry = entries[key], case .published(let id, var sent) = entry.remote else { return [] }
        // The request clears the flag in the daemon.
        sent.needsSave = false
        entry.remote = .published(id, sent)
        entry.pending?.needsSave = false
        var actions: [Action] = []
        switch entry.save {
        case .idle where needsSave:
            entry.save = .scheduled(daemonWaits: true)
            actions.append(.save(key))
        case .idle:
            // The app has saved since the daemon learned of the changes, so there already is a
            // reply.
            entry.owesAnswer = true
        case .scheduled: entry.save = .scheduled(daemonWaits: true)
        case .running: entry.save = .running(daemonWaits: true)
        }
        entries[key] = entry
        return actions + (entry.owesAnswer ? sync(key) : [])
    }

    /// Handles the end of an expired activity in the daemon.
    /// - Parameter description: the activity's current description. If its expiration date has
    ///   changed since, the activity stays current.
    package mutating func withdrawn(_ key: Key, _ description: ActivityDescription?) -> [Action] {
        if case .withdrawing(_, let refused)? = entries[key]?.remote, entries[key]?.hasEnded == false {
            entries[key]?.remote = .refused(refused)
            return sync(key)
        }
        var hasExpired = true
        if let description, case .published(_, let sent)? = entries[key]?.remote {
            hasExpired = description.expirationDate == sent.description.expirationDate
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
        // Another activity, which this one was to replace, may still be current in the daemon.
        return entries.keys.flatMap { sync($0) }
    }

    /// Handles the success of `Publish`.
    package mutating func published(_ key: Key, as id: ActivityID) -> [Action] {
        guard var entry = entries[key], case .publishing(let sent) = entry.remote else { return [] }
        entry.remote = .published(id, sent)
        entry.isBusy = false
        entries[key] = entry
        return sync(key)
    }

    /// Handles the success of any other call.
    package mutating func succeeded(_ key: Key, _ call: Call) -> [Action] {
        guard var entry = entries[key], entry.remote.isAbout(call) else { return [] }
        entry.isBusy = false
        if var pending = entry.pending, let id = entry.remote.id {
            // Replies arrive in call order, so changes made by earlier replies precede this one.
            if case .becomeCurrent = call { pending.isCurrent = true }
            entry.remote = .published(id, pending)
        }
        entry.pending = nil
        entries[key] = entry
        if case .becomeCurrent = call {
            // The daemon has one current activity for each app.
            for other in entries.keys where other != key {
                entries[other]?.pending?.isCurrent = false
                guard case .published(let id, var sent) = entries[other]?.remote else { continue }
                sent.isCurrent = false
                entries[other]?.remote = .published(id, sent)
            }
        }
        return sync(key)
    }

    /// Handles the failure of a call.
    package mutating func failed(_ key: Key, _ call: Call, _ failure: CallFailure) -> [Action] {
        guard var entry = entries[key], entry.remote.isAbout(call) else { return [] }
        entry.isBusy = false
        var hasExpired = true
        if let pending = entry.pending, case .published(_, let sent) = entry.remote {
            hasExpired = pending.description.expirationDate == sent.description.expirationDate
        }
        switch (failure, entry.remote) {
        // `detached` handles the rest.
        case (.lost, _): entry.isBusy = true
        case (.refused, .publishing(let sent)):
            entry.remote = .refused(sent.description)
        case (.refused, .published(let id, let sent)):
            guard let pending = entry.pending else { break }
            // Do not send it again: it would be refused every time.
            let isSame = pending.description == sent.description
            entry.remote = isSame ? .published(id, pending) : .withdrawing(id, refused: pending.wanted)
        // The activity is being withdrawn in either case.
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
        // An activity that a refused one was to replace is withdrawn now.
        case .refused: return entries.keys.flatMap { sync($0) }
        }
    }

    // MARK: To the daemon

    /// Returns the next call to the daemon about an activity.
    /// - Parameters:
    ///   - description: the activity's current description; nil if the object has been released.
    ///   - needsSave: whether the activity has unsaved changes.
    /// - Returns: a call, which the owner must make; nil if nothing is to be sent now.
    package mutating func nextCall(_ key: Key, _ description: ActivityDescription?, needsSave: Bool) -> Call? {
        guard var entry = entries[key] else { return nil }
        entry.isSyncDue = false
        let call = nextCall(key, &entry, description, needsSave)
        // Remove an ended activity once the daemon no longer has it.
        let isOver = entry.hasEnded && !entry.isBusy && entry.remote.id == nil
        entries[key] = isOver ? nil : entry
        return call
    }

    private func nextCall(
        _ key: Key, _ entry: inout Entry, _ description: ActivityDescription?, _ needsSave: Bool
    ) -> Call? {
        guard isAttached, !entry.isBusy else { return nil }
        // The app is writing its state; another sync follows.
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
        case .published(let id, let sent):
            if entry.hasEnded {
                entry.remote = .unknown
                entry.isBusy = true
                return .invalidate(id)
            }
            guard let description else { return nil }
            return change(key, &entry, id, sent, description, needsSave)
        }
    }

    private func publish(
        _ key: Key, _ entry: inout Entry, _ description: ActivityDescription, _ needsSave: Bool
    ) -> Call? {
        guard current == key, !entry.hasEnded else { return nil }
        var description = description
        let hasChanges = entry.hasUnsavedChanges(needsSave: needsSave)
        entry.remote = .publishing(SentState(description: description, wanted: description, needsSave: hasChanges))
        entry.isBusy = true
        entry.hasSaved = false
        entry.owesAnswer = false
        description.needsSave = hasChanges
        return .publish(description)
    }

    private func change(
        _ key: Key, _ entry: inout Entry, _ id: ActivityID, _ sent: SentState, _ description: ActivityDescription,
        _ needsSave: Bool
    ) -> Call? {
        let sendsUserInfo = entry.owesAnswer || entry.hasSaved
        let hasChanges = entry.hasUnsavedChanges(needsSave: needsSave)
        var next = SentState(
            description: description, wanted: description, needsSave: hasChanges, isCurrent: sent.isCurrent)
        if !sendsUserInfo { next.description.userInfo = sent.description.userInfo }
        var change = ActivityChange(from: sent.description, to: next.description)
        if hasChanges != sent.needsSave { change.needsSave = hasChanges }
        if let isEligible = change.isEligibleForHandoff, !entry.owesAnswer {
            // Sent separately, so that nothing else can have it refused: the app may have a reason
            // to hide the activity.
            change = ActivityChange()
            change.isEligibleForHandoff = isEligible
            next = sent
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
        guard (current == key) != sent.isCurrent else { return nil }
        // An activity that is being replaced stays current until then. Otherwise other devices
        // would briefly see none.
        if sent.isCurrent, let current, isOnItsWay(current) { return nil }
        next.isCurrent = current == key
        return call(next.isCurrent ? .becomeCurrent(id) : .resignCurrent(id), &entry, next)
    }

    private func call(_ call: Call, _ entry: inout Entry, _ next: SentState) -> Call {
        entry.isBusy = true
        entry.pending = next
        return call
    }

    /// Returns whether the activity is current in the daemon, or about to be.
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
