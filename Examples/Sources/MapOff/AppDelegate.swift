import Foundation
import HandoffKit

/// Handles viewports that are continued from other devices, and shows them on the map.
final class AppDelegate: UIApplicationDelegate {
    private let map: MapController
    private let report: (String) -> Void

    /// Creates a delegate that restores activities on this map.
    init(_ map: MapController, report: @escaping (String) -> Void) {
        self.map = map
        self.report = report
    }

    func application(
        _ application: UIApplication, willContinueUserActivityWithType userActivityType: String
    ) -> Bool {
        // Only the type is known by now; the content is being sent.
        report("receiving \(userActivityType)")
        return true
    }

    func application(
        _ application: UIApplication, continue userActivity: NSUserActivity,
        restorationHandler: @escaping ([any UIUserActivityRestoring]?) -> Void
    ) -> Bool {
        guard MapController.viewport(of: userActivity) != nil else {
            report("refused: the activity has no viewport of \(Viewport.size) bytes")
            return false
        }
        restorationHandler([map])
        report("continued \(userActivity.activityType)")
        return true
    }

    func application(
        _ application: UIApplication, didFailToContinueUserActivityWithType userActivityType: String,
        error: any Error
    ) {
        report("failed \(userActivityType): \(error.localizedDescription)")
    }
}
