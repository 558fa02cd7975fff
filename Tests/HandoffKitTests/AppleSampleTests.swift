import Foundation
import HandoffControl
import HandoffJSON
import HandoffKit
import HandoffModel
import HandoffTestSupport
import LoopIO
import Testing

// Code with the structure of Apple's sample HandoffMapViewer and of its article "Implementing
// Handoff in Your App". The import, the base class of the view, and `any`, which this package
// requires, differ.

extension NSUserActivity {
    fileprivate static let mapViewingActivityType = "com.example.apple-samplecode.HandoffMapViewer.map-viewing"
    fileprivate static let regionCenterLatitudeKeyString = "latitude"
    fileprivate static let activityVersionKeyString = "activity-version"

    fileprivate func updateViewingRegion(_ latitude: Double) {
        let updateDict: [AnyHashable: Any] = [
            NSUserActivity.regionCenterLatitudeKeyString: latitude,
            NSUserActivity.activityVersionKeyString: 1,
        ]
        addUserInfoEntries(from: updateDict)
    }

    fileprivate func viewingRegion() -> Double? {
        guard let latitude = userInfo?[NSUserActivity.regionCenterLatitudeKeyString] as? Double,
            let version = userInfo?[NSUserActivity.activityVersionKeyString] as? Int, version >= 1
        else {
            return nil
        }
        return latitude
    }
}

private final class MapViewController: HandoffResponder, HandoffActivityDelegate, @unchecked Sendable {
    let mapViewingActivity: NSUserActivity
    private let kit: KitTest
    var latitude = 0.0

    init(_ kit: KitTest, _ application: HandoffApplication) {
        self.kit = kit
        mapViewingActivity = NSUserActivity(
            activityType: NSUserActivity.mapViewingActivityType, application: application)
        super.init()
        mapViewingActivity.isEligibleForHandoff = true
        mapViewingActivity.requiredUserInfoKeys = [NSUserActivity.regionCenterLatitudeKeyString]
        mapViewingActivity.title = NSLocalizedString("Viewing Map", comment: "Viewing map activity")
        mapViewingActivity.delegate = self
    }

    func mapViewRegionDidChange(_ latitude: Double) {
        self.latitude = latitude
        userActivity = mapViewingActivity
        mapViewingActivity.needsSave = true
        mapViewingActivity.becomeCurrent()
    }

    override func updateUserActivityState(_ activity: NSUserActivity) {
        super.updateUserActivityState(activity)
        if activity.activityType == NSUserActivity.mapViewingActivityType {
            activity.updateViewingRegion(latitude)
        }
    }

    override func restoreUserActivityState(_ userActivity: NSUserActivity) {
        super.restoreUserActivityState(userActivity)
        guard userActivity.activityType == NSUserActivity.mapViewingActivityType,
            let region = userActivity.viewingRegion()
        else { return }
        latitude = region
        kit.note("restored \(region)")
    }

    func userActivityWasContinued(_ userActivity: NSUserActivity) {
        kit.note("dismissed")
    }
}

private final class AppDelegate: NSObject, HandoffApplicationDelegate {
    let viewController: MapViewController

    init(_ viewController: MapViewController) {
        self.viewController = viewController
    }

    func application(
        _ application: UIApplication, continue userActivity: NSUserActivity,
        restorationHandler: @escaping ([any UIUserActivityRestoring]?) -> Void
    ) -> Bool {
        restorationHandler([viewController])
        return true
    }
}

@Suite struct AppleSampleTests {
    @Test func `the map is handed off from one device to the other`() throws {
        // The first device.
        let kit = try KitTest()
        let application = kit.application()
        let map = MapViewController(kit, application)
        kit.queue.sync { map.mapViewRegionDidChange(37.0) }
        try kit.run(until: "BecomeCurrent")
        kit.queue.sync { map.mapViewRegionDidChange(38.0) }
        kit.event(.save(kit.lastID))
        try kit.run { $0.contains { $0.hasPrefix("AnswerSave") && $0.contains("userInfo") } }
        let userInfo = try #require(kit.daemon?.parameters(of: "AnswerSave")?["change"]?.object?["userInfo"]?.object)
        kit.event(.continued(kit.lastID, by: Sample.origin))
        try kit.run(until: "dismissed")

        // The second device.
        let there = try KitTest()
        let other = there.application(types: [NSUserActivity.mapViewingActivityType])
        let otherMap = MapViewController(there, other)
        let delegate = AppDelegate(otherMap)
        other.delegate = delegate
        try there.run(until: "Attach")
        let type = try #require(ActivityType(NSUserActivity.mapViewingActivityType))
        var content = Sample.continued(type: type, title: "Viewing Map", userInfo: userInfo)
        content.requiredUserInfoKeys = [NSUserActivity.regionCenterLatitudeKeyString]
        there.event(.continue(Sample.continuation, content))
        try there.run(until: "restored 38.0")
        #expect(otherMap.latitude == 38.0)
    }
}
