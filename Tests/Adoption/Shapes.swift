import Foundation
import HandoffKit

// Apple's article "Implementing Handoff in Your App", with all delegate methods that it names.

class MyShapesViewController: UIViewController {
    private var shape = "square"

    func currentShapeType() -> String { shape }

    func createShape(type: String) { shape = type }

    func beginCreatingShape() {
        let activity = NSUserActivity(activityType: "com.example.myapp.create-shape")
        activity.isEligibleForHandoff = true
        activity.requiredUserInfoKeys = ["shape-type"]
        activity.title = NSLocalizedString("Creating shape", comment: "Creating shape activity")
        userActivity = activity
    }

    override func updateUserActivityState(_ activity: NSUserActivity) {
        if activity.activityType == "com.example.myapp.create-shape" {
            let updateDict: [AnyHashable: Any] = [
                "shape-type": currentShapeType(),
                "activity-version": 1,
            ]
            activity.addUserInfoEntries(from: updateDict)
        }
    }

    override func restoreUserActivityState(_ userActivity: NSUserActivity) {
        super.restoreUserActivityState(userActivity)
        guard userActivity.activityType == "com.example.myapp.create-shape",
            let type = userActivity.userInfo?["shape-type"] as? String,
            let version = userActivity.userInfo?["activity-version"] as? Int,
            version >= 1
        else {
            return
        }

        createShape(type: type)
    }
}

class AppDelegate: NSObject, UIApplicationDelegate {
    private var isReceiving = false
    private let shapes = MyShapesViewController()

    func application(
        _ application: UIApplication, willContinueUserActivityWithType userActivityType: String
    ) -> Bool {
        isReceiving = true
        return true
    }

    func application(
        _ application: UIApplication, continue userActivity: NSUserActivity,
        restorationHandler: @escaping ([UIUserActivityRestoring]?) -> Void
    ) -> Bool {
        guard let topNav = application.keyWindow?.rootViewController as? UINavigationController,
            let shapesVC = topNav.viewControllers.first as? MyShapesViewController
        else {
            return false
        }
        restorationHandler([shapesVC])
        return true
    }

    func application(
        _ application: UIApplication, didFailToContinueUserActivityWithType userActivityType: String, error: Error
    ) {
        isReceiving = false
    }

    func application(_ application: UIApplication, didUpdate userActivity: NSUserActivity) {
        shapes.createShape(type: "circle")
    }
}

/// A document that restores itself, and the code that opens the URL received with an activity.
class ShapesDocument: NSObject, UIUserActivityRestoring {
    let controller = MyShapesViewController()

    func restoreUserActivityState(_ userActivity: NSUserActivity) {
        guard let url = userActivity.userInfo?["document"] as? URL, url.startAccessingSecurityScopedResource() else {
            return
        }
        defer { url.stopAccessingSecurityScopedResource() }
        controller.createShape(type: url.lastPathComponent)
    }
}
