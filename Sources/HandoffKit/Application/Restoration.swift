import Foundation

/// What a restoration handler does, once: has objects take the state of an activity over.
///
/// Unchecked Sendable: the lock is held around the flag, the rest does not change.
final class Restoration: @unchecked Sendable {
    private let activity: NSUserActivity
    private let lock = NSLock()
    private var isDone = false

    /// The restoration of an activity, not yet done.
    init(_ activity: NSUserActivity) {
        self.activity = activity
    }

    /// Calls `restoreUserActivityState` of each object on the callback queue; nothing the second time.
    func restore(_ objects: [any NSUserActivityRestoring]) {
        let isFirst = lock.withLock {
            defer { isDone = true }
            return !isDone
        }
        guard isFirst, !objects.isEmpty else { return }
        let targets = RestorationTargets(objects: objects)
        activity.application.callback { [activity] _ in
            for object in targets.objects { object.restoreUserActivityState(activity) }
        }
    }
}

/// Objects on their way to the callback queue.
///
/// Unchecked Sendable: they are only handed over; the app says by calling the handler that the queue may have them.
private struct RestorationTargets: @unchecked Sendable {
    let objects: [any NSUserActivityRestoring]
}
