import Foundation
import HandoffKit

/// Takes the activities of other devices.
final class AppDelegate: UIApplicationDelegate {
    private let map: MapViewController
    private let say: (String) -> Void

    /// A delegate that restores on this map.
    init(_ map: MapViewController, say: @escaping (String) -> Void) {
        self.map = map
        self.say = say
    }

    func application(
        _ application: UIApplication, willContinueUserActivityWithType userActivityType: String
    ) -> Bool {
        say("receiving \(userActivityType)")
        return true
    }

    func application(
        _ application: UIApplication, continue userActivity: NSUserActivity,
        restorationHandler: @escaping ([any UIUserActivityRestoring]?) -> Void
    ) -> Bool {
        switch userActivity.activityType {
        case NSUserActivity.mapViewingActivityType:
            guard userActivity.viewingRegion() != nil else {
                say("refused: the activity names no region")
                return false
            }
            restorationHandler([map])
        case NSUserActivity.storeEditingActivityType:
            guard let store = userActivity.store() else {
                say("refused: the activity names no store that is known here")
                return false
            }
            // The popover hangs on the pin of the store, which is there once the search has found it. The activity
            // counts as taken over already; the handler is kept until then.
            map.whenAnnotated(store) { [map] in restorationHandler([map]) }
        default: return false
        }
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
