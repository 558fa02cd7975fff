import LoopIO

/// The implementation of a restoration handler: has objects restore the state of an activity, once.
final class Restoration: Sendable {
    private let activity: NSUserActivity
    private let isDone = Locked(false)

    init(_ activity: NSUserActivity) {
        self.activity = activity
    }

    /// Calls `restoreUserActivityState` of each object, on the callback queue or the main queue.
    /// Does nothing the second time.
    func restore(_ objects: [any NSUserActivityRestoring]) {
        let isFirst = isDone.withLock { isDone in
            defer { isDone = true }
            return !isDone
        }
        guard isFirst else { return }
        activity.application.callback(objects.map(step))
    }

    /// Returns the call for an object.
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
/// Unchecked: it is only accessed there. By calling the handler, the app transfers it to that
/// queue.
private struct RestorationTarget: @unchecked Sendable {
    let object: any NSUserActivityRestoring
}

/// An object on its way to the callback queue.
///
/// Unchecked: it is only accessed there. By calling the handler, the app transfers it to that
/// queue.
private struct FreeRestorationTarget: @unchecked Sendable {
    let object: any HandoffRestoring
}
