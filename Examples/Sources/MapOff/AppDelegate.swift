import Foundation
import HandoffKit

/// Takes the viewports of other devices, and has the map show them.
final class AppDelegate: UIApplicationDelegate {
    private let map: MapController
    private let say: (String) -> Void

    /// A delegate that restores on this map.
    init(_ map: MapController, say: @escaping (String) -> Void) {
        self.map = map
        self.say = say
    }

    func application(
        _ application: UIApplication, willContinueUserActivityWithType userActivityType: String
    ) -> Bool {
        // All that is known by now is the type; the rest is on its way.
        say("receiving \(userActivityType)")
        return true
    }

    func application(
        _ application: UIApplication, continue userActivity: NSUserActivity,
        restorationHandler: @escaping ([any UIUserActivityRestoring]?) -> Void
    ) -> Bool {
        guard MapController.viewport(of: userActivity) != nil else {
            say("refused: the activity has no viewport of \(Viewport.size) bytes")
            return false
        }
        restorationHandler([map])
        say("continued \(userActivity.activityType)")
        return true
    }

    func application(
        _ application: UIApplication, didFailToContinueUserActivityWithType userActivityType: String,
        error: any Error
    ) {
        say("failed \(userActivityType): \(error.localizedDescription)")
    }
}
