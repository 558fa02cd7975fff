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
        guard isFirst else { return }
        activity.application.callback(objects.map(step))
    }

    /// What has to be called for an object.
    private func step(_ object: any NSUserActivityRestoring) -> CallbackStep {
        let target = RestorationTarget(object: object)
        if let free = object as? any HandoffRestoring {
            let target = FreeRestorationTarget(object: free)
            return .callbackQueue { [activity] in target.object.restoreUserActivityState(activity) }
        }
        return .mainActor { [activity] in target.object.restoreUserActivityState(activity) }
    }
}

/// An object on its way to the main queue.
///
/// Unchecked: it is only touched there; the app says by calling the handler that the queue may have it.
private struct RestorationTarget: @unchecked Sendable {
    let object: any NSUserActivityRestoring
}

/// An object on its way to the callback queue.
///
/// Unchecked: as the other one.
private struct FreeRestorationTarget: @unchecked Sendable {
    let object: any HandoffRestoring
}
