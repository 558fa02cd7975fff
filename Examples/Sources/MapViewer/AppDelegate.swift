import Foundation
import HandoffKit

/// Handles the activities that are continued from other devices.
final class AppDelegate: UIApplicationDelegate {
    private let map: MapViewController
    private let report: (String) -> Void

    /// Creates a delegate that restores activities on this map.
    init(_ map: MapViewController, report: @escaping (String) -> Void) {
        self.map = map
        self.report = report
    }

    func application(
        _ application: UIApplication, willContinueUserActivityWithType userActivityType: String
    ) -> Bool {
        report("receiving \(userActivityType)")
        return true
    }

    func application(
        _ application: UIApplication, continue userActivity: NSUserActivity,
        restorationHandler: @escaping ([any UIUserActivityRestoring]?) -> Void
    ) -> Bool {
        switch userActivity.activityType {
        case NSUserActivity.mapViewingActivityType:
            guard userActivity.viewingRegion() != nil else {
                report("refused: the activity does not name a region")
                return false
            }
            restorationHandler([map])
        case NSUserActivity.storeEditingActivityType:
            guard let store = userActivity.store() else {
                report("refused: the activity does not name a known store")
                return false
            }
            // The popover is attached to the store's pin, which exists once the search has found
            // the store. The activity already counts as handled; the handler is kept until then.
            map.whenAnnotated(store) { [map] in restorationHandler([map]) }
        default: return false
        }
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
