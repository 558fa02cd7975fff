import Foundation
import HandoffKit

// Declarations of Apple's that apps use in addition to the samples: optional calls, property types,
// constants, metatypes.

class ForwardingSceneDelegate: UIResponder, UISceneDelegate {
    func scene(_ scene: UIScene, willContinueUserActivityWithType userActivityType: String) {
        let application = UIApplication.shared
        let shows = application.delegate?.application?(application, willContinueUserActivityWithType: userActivityType)
        if shows ?? false { scene.delegate?.scene?(scene, willContinueUserActivityWithType: userActivityType) }
    }

    func scene(_ scene: UIScene, continue userActivity: NSUserActivity) {
        let application = UIApplication.shared
        application.delegate?.application?(application, continue: userActivity) { _ in }
        let handled =
            application.delegate?.application?(
                application, continue: userActivity,
                restorationHandler: { (objects: [UIUserActivityRestoring]?) in
                    objects?.forEach { $0.restoreUserActivityState(userActivity) }
                }) ?? false
        let forMac: ([NSUserActivityRestoring]) -> Void = { _ in }
        _ = application.delegate?.application?(application, continue: userActivity, restorationHandler: forMac)
        if !handled { scene.delegate?.scene?(scene, continue: userActivity) }
    }

    func scene(_ scene: UIScene, didFailToContinueUserActivityWithType userActivityType: String, error: Error) {
        let application = UIApplication.shared
        application.delegate?.application?(
            application, didFailToContinueUserActivityWithType: userActivityType, error: error)
    }

    func scene(_ scene: UIScene, didUpdate userActivity: NSUserActivity) {
        let application = UIApplication.shared
        application.delegate?.application?(application, didUpdate: userActivity)
        userActivity.delegate?.userActivityWillSave?(userActivity)
        userActivity.delegate?.userActivityWasContinued?(userActivity)
    }
}

class DocumentScene: UIScene {
    var page = 1

    override func updateUserActivityState(_ activity: NSUserActivity) {
        super.updateUserActivityState(activity)
        activity.addUserInfoEntries(from: ["page": page])
    }
}

class ReaderViewController: UIViewController {
    var page = 1
}

@MainActor func responders(of scene: UIScene, _ controller: ReaderViewController) -> [UIResponder] {
    let own = DocumentScene(delegate: nil)
    own.userActivity = controller.userActivity
    let first: UIResponder = scene
    return [first, own, controller, ReaderViewController()]
}

func isRunning(_ activity: NSUserActivity) -> Bool {
    let end: Date = activity.expirationDate
    activity.expirationDate = end.addingTimeInterval(60)
    if let end = activity.expirationDate { return end > Date() }
    activity.expirationDate = nil
    return activity.expirationDate > Date()
}

func isOfActivities(_ error: NSError) -> Bool {
    error.domain == NSCocoaErrorDomain
        && (NSUserActivityErrorMinimum...NSUserActivityErrorMaximum).contains(error.code)
}

extension NSUserActivity {
    static func reading(page: Int) -> Self {
        let activity = self.init(activityType: "com.example.reading")
        activity.userInfo = ["page": page]
        return activity
    }

    convenience init(page: Int) {
        self.init(activityType: "com.example.reading")
        userInfo = ["page": page]
    }
}

func make(_ kind: NSUserActivity.Type) -> NSUserActivity { kind.init(activityType: "com.example.reading") }
