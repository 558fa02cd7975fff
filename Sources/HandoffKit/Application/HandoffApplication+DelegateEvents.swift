import Dispatch
import Foundation

extension HandoffApplication {
    /// An event for the delegate of the active scene or, without one, for the application's
    /// delegate.
    enum DelegateEvent: Sendable {
        case willContinue(String)
        case `continue`(NSUserActivity)
        case didFail(String, NSError)
        case didUpdate(NSUserActivity)
    }

    /// The object whose delegate is notified.
    ///
    /// Unchecked: scenes may be called from any thread, although their class is not Sendable.
    enum Recipient: @unchecked Sendable {
        case scene(HandoffScene)
        case application
    }

    /// Returns the call that notifies the delegate.
    /// - Parameters:
    ///   - recipient: the owner of the delegate; nil for the active scene.
    ///   - reply: receives whether the app has handled the activity.
    func notify(
        _ event: DelegateEvent, _ recipient: Recipient? = nil, reply: @escaping @Sendable (Bool) -> Void = { _ in }
    ) -> CallbackStep {
        let recipient = recipient ?? activeScene.map(Recipient.scene) ?? .application
        if case .scene(let scene) = recipient {
            if scene.hasLostDelegate { warn(.scene) }
            if let sceneDelegate = scene.delegate {
                guard sceneDelegate is any HandoffSceneDelegate else {
                    return .mainActor { reply(self.notifyScene(recipient, event)) }
                }
                return .callbackQueue { reply(self.notifyNonisolatedScene(recipient, event)) }
            }
        }
        if hasLostDelegate { warn(.application) }
        // Without a delegate, do not wait for the main queue, which may be blocked.
        guard let delegate else { return .callbackQueue { reply(false) } }
        guard delegate is any HandoffApplicationDelegate else {
            return .mainActor { reply(self.notifyDelegate(event)) }
        }
        return .callbackQueue { reply(self.notifyNonisolatedDelegate(event)) }
    }

    // Each method exists twice with the same text: a function's isolation cannot depend on its
    // arguments.

    @MainActor private func notifyScene(_ recipient: Recipient, _ event: DelegateEvent) -> Bool {
        guard case .scene(let scene) = recipient, let delegate = scene.delegate else { return false }
        switch event {
        case .willContinue(let type): delegate.scene(scene, willContinueUserActivityWithType: type)
        case .continue(let activity): delegate.scene(scene, continue: activity)
        case .didFail(let type, let error):
            delegate.scene(scene, didFailToContinueUserActivityWithType: type, error: error)
        case .didUpdate(let activity): delegate.scene(scene, didUpdate: activity)
        }
        return true
    }

    private func notifyNonisolatedScene(_ recipient: Recipient, _ event: DelegateEvent) -> Bool {
        guard case .scene(let scene) = recipient, let delegate = scene.delegate as? any HandoffSceneDelegate else {
            return false
        }
        switch event {
        case .willContinue(let type): delegate.scene(scene, willContinueUserActivityWithType: type)
        case .continue(let activity): delegate.scene(scene, continue: activity)
        case .didFail(let type, let error):
            delegate.scene(scene, didFailToContinueUserActivityWithType: type, error: error)
        case .didUpdate(let activity): delegate.scene(scene, didUpdate: activity)
        }
        return true
    }

    @MainActor private func notifyDelegate(_ event: DelegateEvent) -> Bool {
        guard let delegate else { return false }
        switch event {
        case .willContinue(let type): return delegate.application(self, willContinueUserActivityWithType: type)
        case .continue(let activity):
            return delegate.application(self, continue: activity, restorationHandler: handler(for: activity))
        case .didFail(let type, let error):
            delegate.application(self, didFailToContinueUserActivityWithType: type, error: error)
        case .didUpdate(let activity): delegate.application(self, didUpdate: activity)
        }
        return true
    }

    private func notifyNonisolatedDelegate(_ event: DelegateEvent) -> Bool {
        guard let delegate = delegate as? any HandoffApplicationDelegate else { return false }
        switch event {
        case .willContinue(let type): return delegate.application(self, willContinueUserActivityWithType: type)
        case .continue(let activity):
            return delegate.application(self, continue: activity, restorationHandler: handler(for: activity))
        case .didFail(let type, let error):
            delegate.application(self, didFailToContinueUserActivityWithType: type, error: error)
        case .didUpdate(let activity): delegate.application(self, didUpdate: activity)
        }
        return true
    }

    private func handler(for activity: NSUserActivity) -> ([any NSUserActivityRestoring]?) -> Void {
        let restoration = Restoration(activity)
        return { restoration.restore($0 ?? []) }
    }
}
