import Foundation

/// A responder of either kind.
///
/// Unchecked: nonisolated responders may be called from any thread, although their class is not
/// Sendable.
enum Responder: @unchecked Sendable {
    /// Called on the callback queue.
    case free(HandoffResponder)
    /// Called on the main queue.
    case mainActor(UIResponder)

    var id: ObjectIdentifier {
        switch self {
        case .free(let responder): ObjectIdentifier(responder)
        case .mainActor(let responder): ObjectIdentifier(responder)
        }
    }

    /// Returns the call that has the responder bring an activity up to date.
    func update(_ activity: NSUserActivity) -> CallbackStep {
        switch self {
        case .free:
            .callbackQueue { if case .free(let responder) = self { responder.updateUserActivityState(activity) } }
        // A plain scene has nothing to write, and the main queue might not be serviced.
        case .mainActor(let responder) where type(of: responder) == HandoffScene.self: .callbackQueue {}
        case .mainActor(let responder): .mainActor { responder.updateUserActivityState(activity) }
        }
    }

    func replaceActivity(from former: NSUserActivity?, to new: NSUserActivity?) {
        if let former, former !== new {
            let wasLast = former.remove(id)
            if new == nil, wasLast { former.resignCurrent() }
        }
        new?.add(self)
        new?.becomeCurrent()
    }
}

/// The responders that share an activity, in the order in which they were added. The references are
/// weak.
///
/// Unchecked: the list is only accessed with the lock held.
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

        /// The responder; nil if it has been released.
        var responder: Responder? { free.map(Responder.free) ?? isolated.map(Responder.mainActor) }
    }

    private let lock = NSLock()
    private var entries: [Entry] = []

    /// The responders that still exist.
    var all: [Responder] {
        lock.withLock { entries.compactMap(\.responder) }
    }

    /// Adds a responder unless it is already in the list.
    func add(_ responder: Responder) {
        // Retained until the lock is released: the `deinit` of a responder calls `remove`.
        let held = all
        defer { withExtendedLifetime(held) {} }
        lock.withLock {
            guard !entries.contains(where: { $0.id == responder.id && $0.responder != nil }) else { return }
            entries.removeAll { $0.responder == nil }
            entries.append(Entry(responder))
        }
    }

    /// Removes a responder.
    /// - Returns: whether the list is now empty.
    func remove(_ id: ObjectIdentifier) -> Bool {
        let held = all
        defer { withExtendedLifetime(held) {} }
        return lock.withLock {
            entries.removeAll { $0.id == id || $0.responder == nil }
            return entries.isEmpty
        }
    }
}
