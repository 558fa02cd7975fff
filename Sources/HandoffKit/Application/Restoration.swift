import LoopIO

/// What a restoration handler does, once: has objects take the state of an activity over.
final class Restoration: Sendable {
    private let activity: NSUserActivity
    private let isDone = Locked(false)

    /// The restoration of an activity, not yet done.
    init(_ activity: NSUserActivity) {
        self.activity = activity
    }

    /// Calls `restoreUserActivityState` of each object on the callback queue; nothing the second time.
    func restore(_ objects: [any NSUserActivityRestoring]) {
        let isFirst = isDone.withLock { isDone in
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
/// Unchecked: they are only touched on the callback queue; the app says by calling the handler that the queue may have them.
private struct RestorationTargets: @unchecked Sendable {
    let objects: [any NSUserActivityRestoring]
}
