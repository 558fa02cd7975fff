import Foundation
import HandoffKit

// Apple's sample HandoffMapViewer: its extension of NSUserActivity, its view controller, and its
// delegates for iOS and macOS.

extension NSUserActivity {
    static let mapViewingActivityType = "com.example.apple-samplecode.HandoffMapViewer.map-viewing"
    static let storeEditingActivityType = "com.example.apple-samplecode.HandoffMapViewer.store-editing"
    static let regionCenterLatitudeKeyString = "regionCenterLatitude"
    static let regionCenterLongitudeKeyString = "regionCenterLongitude"
    static let regionSpanLatitudeKeyString = "regionSpanLatitude"
    static let regionSpanLongitudeKeyString = "regionSpanLongitude"

    func updateViewingRegion(_ region: MKCoordinateRegion) {
        let updateDict = [
            NSUserActivity.regionCenterLatitudeKeyString: region.center.latitude,
            NSUserActivity.regionCenterLongitudeKeyString: region.center.longitude,
            NSUserActivity.regionSpanLatitudeKeyString: region.span.latitudeDelta,
            NSUserActivity.regionSpanLongitudeKeyString: region.span.longitudeDelta,
        ]
        addUserInfoEntries(from: updateDict)
    }

    func viewingRegion() -> MKCoordinateRegion? {
        guard
            let centerLatitude = userInfo?[NSUserActivity.regionCenterLatitudeKeyString] as? CLLocationDegrees,
            let centerLongitude = userInfo?[NSUserActivity.regionCenterLongitudeKeyString] as? CLLocationDegrees,
            let spanLatitude = userInfo?[NSUserActivity.regionSpanLatitudeKeyString] as? CLLocationDegrees,
            let spanLongitude = userInfo?[NSUserActivity.regionSpanLongitudeKeyString] as? CLLocationDegrees
        else {
            return nil
        }
        return MKCoordinateRegion(
            center: CLLocationCoordinate2D(latitude: centerLatitude, longitude: centerLongitude),
            span: MKCoordinateSpan(latitudeDelta: spanLatitude, longitudeDelta: spanLongitude))
    }
}

class StoreDetailViewController: UIViewController {}

class MapViewController: UIViewController, NSUserActivityDelegate {
    let mapView = MKMapView()
    let mapViewingActivity = NSUserActivity(activityType: NSUserActivity.mapViewingActivityType)
    let storeEditingActivity = NSUserActivity(activityType: NSUserActivity.storeEditingActivityType)

    override init() {
        super.init()
        storeEditingActivity.delegate = self
    }

    func mapViewRegionDidChange() {
        userActivity = mapViewingActivity
        mapViewingActivity.needsSave = true
        mapViewingActivity.becomeCurrent()
    }

    override func updateUserActivityState(_ activity: NSUserActivity) {
        super.updateUserActivityState(activity)
        switch activity.activityType {
        case NSUserActivity.mapViewingActivityType: activity.updateViewingRegion(mapView.region)
        default: break
        }
    }

    override func restoreUserActivityState(_ activity: NSUserActivity) {
        super.restoreUserActivityState(activity)
        if activity.activityType == NSUserActivity.mapViewingActivityType, let region = activity.viewingRegion() {
            mapView.setRegion(region, animated: true)
        }
    }

    func userActivityWasContinued(_ userActivity: NSUserActivity) {
        DispatchQueue.main.async { [weak self] in
            if let detailVC = self?.presentedViewController as? StoreDetailViewController,
                userActivity.activityType == NSUserActivity.storeEditingActivityType
            {
                detailVC.dismiss(animated: true)
            }
        }
    }
}

class AppDelegate: UIResponder, UIApplicationDelegate {
    var window: UIWindow?

    func application(
        _ application: UIApplication, continue userActivity: NSUserActivity,
        restorationHandler: @escaping ([UIUserActivityRestoring]?) -> Void
    ) -> Bool {
        guard let topNav = application.keyWindow?.rootViewController as? UINavigationController,
            let mapVC = topNav.viewControllers.first as? MapViewController
        else {
            return false
        }

        mapVC.loadView()
        restorationHandler([mapVC])
        return true
    }
}

class MacMapViewController: NSViewController {
    override func updateUserActivityState(_ userActivity: NSUserActivity) {
        super.updateUserActivityState(userActivity)
    }
}

class MacAppDelegate: NSObject, NSApplicationDelegate {
    let window = NSWindow()

    func application(
        _ application: NSApplication, continue userActivity: NSUserActivity,
        restorationHandler: @escaping ([NSUserActivityRestoring]) -> Void
    ) -> Bool {
        guard let mapVC = window.windowController?.contentViewController as? MacMapViewController else {
            return false
        }

        mapVC.loadView()
        restorationHandler([mapVC])
        return true
    }
}
