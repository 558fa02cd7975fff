import Foundation

/// One of the two kinds of responders.
///
/// Unchecked: responders of no actor, whose class is not Sendable, may be called from any thread.
enum Responder: @unchecked Sendable {
    /// One that is called on the callback queue.
    case free(HandoffResponder)
    /// One that is called on the main queue.
    case mainActor(UIResponder)

    /// Which object it is.
    var id: ObjectIdentifier {
        switch self {
        case .free(let responder): ObjectIdentifier(responder)
        case .mainActor(let responder): ObjectIdentifier(responder)
        }
    }

    /// What has to be called for it to bring an activity up to date.
    func update(_ activity: NSUserActivity) -> CallbackStep {
        switch self {
        case .free:
            .callbackQueue { if case .free(let responder) = self { responder.updateUserActivityState(activity) } }
        // It has nothing to write, and the main queue need not be serviced.
        case .mainActor(let responder) where type(of: responder) == HandoffScene.self: .callbackQueue {}
        case .mainActor(let responder): .mainActor { responder.updateUserActivityState(activity) }
        }
    }

    /// It shows another activity from now on.
    func changesActivity(from former: NSUserActivity?, to new: NSUserActivity?) {
        if let former, former !== new {
            let wasLast = former.remove(id)
            if new == nil, wasLast { former.resignCurrent() }
        }
        new?.add(self)
        new?.becomeCurrent()
    }
}

/// The responders that share an activity, in the order in which they came; none of them is kept alive.
///
/// Unchecked: the list is only touched with the lock held.
final class ResponderList: @unchecked Sendable {
    private struct Entry {
        let id: ObjectIdentifier
        private weak var free: HandoffResponder?
        private weak var isolated: UIResponder?

        init(_ responder: Responder) {
            id = responder.id
            switch responder {
            case .free(let object): free = object
            case .mainActor(let object): isolated = object
            }
        }

        /// The responder; nil when it has gone.
        var responder: Responder? { free.map(Responder.free) ?? isolated.map(Responder.mainActor) }
    }

    private let lock = NSLock()
    private var entries: [Entry] = []

    /// Those that are still there.
    var all: [Responder] {
        lock.withLock { entries.compactMap(\.responder) }
    }

    /// Adds one; only once.
    func add(_ responder: Responder) {
        // Held until after the lock: the end of a responder comes back here.
        let held = all
        defer { withExtendedLifetime(held) {} }
        lock.withLock {
            guard !entries.contains(where: { $0.id == responder.id && $0.responder != nil }) else { return }
            entries.removeAll { $0.responder == nil }
            entries.append(Entry(responder))
        }
    }

    /// Removes one.
    /// - Returns: whether none is left.
    func remove(_ id: ObjectIdentifier) -> Bool {
        let held = all
        defer { withExtendedLifetime(held) {} }
        return lock.withLock {
            entries.removeAll { $0.id == id || $0.responder == nil }
            return entries.isEmpty
        }
    }
}
