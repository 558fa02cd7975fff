import Foundation
import HandoffKit

// MapOff of "iOS 8 Day by Day", in current Swift: the bytes of a structure.

class ViewController: UIViewController {
    let mapView = MKMapView()
    let activityType = "com.shinobicontrols.MapOff.viewport"

    override func viewDidLoad() {
        super.viewDidLoad()
        if userActivity?.activityType != activityType {
            userActivity?.invalidate()
            userActivity = NSUserActivity(activityType: activityType)
        }
        userActivity?.needsSave = true
    }

    func mapView(_ mapView: MKMapView, regionDidChangeAnimated animated: Bool) {
        userActivity?.needsSave = true
    }

    override func updateUserActivityState(_ activity: NSUserActivity) {
        let regionData = withUnsafePointer(to: &mapView.region) {
            NSData(bytes: $0, length: MemoryLayout<MKCoordinateRegion>.size)
        }
        activity.userInfo = ["region": regionData]
    }

    override func restoreUserActivityState(_ activity: NSUserActivity) {
        if activity.activityType == "com.shinobicontrols.MapOff.viewport" {
            // Extract the data
            // swift-format-ignore: NeverForceUnwrap
            let regionData = activity.userInfo!["region"] as! Data
            // Need an empty coordinate region to populate
            var region = MKCoordinateRegion(
                center: CLLocationCoordinate2D(latitude: 0.0, longitude: 0.0),
                span: MKCoordinateSpan(latitudeDelta: 0.0, longitudeDelta: 0.0))
            (regionData as NSData).getBytes(&region, length: MemoryLayout<MKCoordinateRegion>.size)
            mapView.setRegion(region, animated: true)
        }
    }
}

class AppDelegate: UIResponder, UIApplicationDelegate {
    var window: UIWindow?

    func application(
        _ application: UIApplication, willContinueUserActivityWithType userActivityType: String
    ) -> Bool {
        print("Will continue \(userActivityType)")
        return true
    }

    func application(
        _ application: UIApplication, continue userActivity: NSUserActivity,
        restorationHandler: @escaping ([UIUserActivityRestoring]?) -> Void
    ) -> Bool {
        if let rootVC = window?.rootViewController {
            restorationHandler([rootVC])
        }
        return true
    }
}
