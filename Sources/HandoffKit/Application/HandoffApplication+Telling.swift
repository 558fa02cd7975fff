import Dispatch
import Foundation

extension HandoffApplication {
    /// What the delegate of the active scene is told, and without one the application's delegate.
    enum Occasion: Sendable {
        /// An activity of a type is on its way.
        case willContinue(String)
        /// It has arrived.
        case `continue`(NSUserActivity)
        /// It does not come.
        case didFail(String, NSError)
        /// The responders of an activity have updated it.
        case didUpdate(NSUserActivity)
    }

    /// Whose delegate is told.
    ///
    /// Unchecked: scenes, whose class is not Sendable, may be called from any thread.
    enum Audience: @unchecked Sendable {
        /// A scene's.
        case scene(HandoffScene)
        /// The application's.
        case application
    }

    /// What has to be called for the delegate to be told.
    /// - Parameters:
    ///   - audience: whose delegate; nil for that of the active scene.
    ///   - answer: is told whether the app has taken over what arrived.
    func tell(
        _ occasion: Occasion, _ audience: Audience? = nil, answer: @escaping @Sendable (Bool) -> Void = { _ in }
    ) -> CallbackStep {
        let audience = audience ?? activeScene.map(Audience.scene) ?? .application
        if case .scene(let scene) = audience {
            if scene.hasLostDelegate { warn(.scene) }
            if let sceneDelegate = scene.delegate {
                guard sceneDelegate is any HandoffSceneDelegate else {
                    return .mainActor { answer(self.tellScene(audience, occasion)) }
                }
                return .callbackQueue { answer(self.tellFreeScene(audience, occasion)) }
            }
        }
        if hasLostDelegate { warn(.application) }
        // Without one nothing waits for the main queue, which may stand still.
        guard let delegate else { return .callbackQueue { answer(false) } }
        guard delegate is any HandoffApplicationDelegate else {
            return .mainActor { answer(self.tellDelegate(occasion)) }
        }
        return .callbackQueue { answer(self.tellFreeDelegate(occasion)) }
    }

    // Each is here twice, word by word: one function cannot belong to the main actor or to none by what it is given.

    @MainActor private func tellScene(_ audience: Audience, _ occasion: Occasion) -> Bool {
        guard case .scene(let scene) = audience, let delegate = scene.delegate else { return false }
        switch occasion {
        case .willContinue(let type): delegate.scene(scene, willContinueUserActivityWithType: type)
        case .continue(let activity): delegate.scene(scene, continue: activity)
        case .didFail(let type, let error):
            delegate.scene(scene, didFailToContinueUserActivityWithType: type, error: error)
        case .didUpdate(let activity): delegate.scene(scene, didUpdate: activity)
        }
        return true
    }

    private func tellFreeScene(_ audience: Audience, _ occasion: Occasion) -> Bool {
        guard case .scene(let scene) = audience, let delegate = scene.delegate as? any HandoffSceneDelegate else {
            return false
        }
        switch occasion {
        case .willContinue(let type): delegate.scene(scene, willContinueUserActivityWithType: type)
        case .continue(let activity): delegate.scene(scene, continue: activity)
        case .didFail(let type, let error):
            delegate.scene(scene, didFailToContinueUserActivityWithType: type, error: error)
        case .didUpdate(let activity): delegate.scene(scene, didUpdate: activity)
        }
        return true
    }

    @MainActor private func tellDelegate(_ occasion: Occasion) -> Bool {
        guard let delegate else { return false }
        switch occasion {
        case .willContinue(let type): return delegate.application(self, willContinueUserActivityWithType: type)
        case .continue(let activity):
            return delegate.application(self, continue: activity, restorationHandler: handler(for: activity))
        case .didFail(let type, let error):
            delegate.application(self, didFailToContinueUserActivityWithType: type, error: error)
        case .didUpdate(let activity): delegate.application(self, didUpdate: activity)
        }
        return true
    }

    private func tellFreeDelegate(_ occasion: Occasion) -> Bool {
        guard let delegate = delegate as? any HandoffApplicationDelegate else { return false }
        switch occasion {
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
