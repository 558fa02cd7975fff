import Foundation

/// The responders that share an activity, in the order in which they came; none of them is kept alive.
///
/// Unchecked: the list is only touched with the lock held; responders, whose class is not Sendable, may be called from any thread.
final class ResponderList: @unchecked Sendable {
    private struct Entry {
        let id: ObjectIdentifier
        weak var responder: HandoffResponder?
    }

    private let lock = NSLock()
    private var entries: [Entry] = []

    /// Those that are still there.
    var all: [HandoffResponder] {
        lock.withLock { entries.compactMap(\.responder) }
    }

    /// Adds one; only once.
    func add(_ responder: HandoffResponder) {
        let id = ObjectIdentifier(responder)
        // Held until after the lock: the end of a responder comes back here.
        let held = all
        defer { withExtendedLifetime(held) {} }
        lock.withLock {
            guard !entries.contains(where: { $0.id == id && $0.responder != nil }) else { return }
            entries.removeAll { $0.responder == nil }
            entries.append(Entry(id: id, responder: responder))
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
