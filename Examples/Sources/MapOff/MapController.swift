import ExampleSupport
import Foundation
import HandoffKit

/// The map, and the activity that describes its visible region.
final class MapController: UIResponder {
    static let activityType = "com.example.mapoff.viewport"
    private static let regionKey = "region"

    private(set) var region = Region.world

    private let application: HandoffApplication
    private let report: (String) -> Void
    private var updates = 0

    /// Creates a map of the whole world. No activity is current before `viewDidLoad()`.
    init(_ application: HandoffApplication = .shared, report: @escaping (String) -> Void) {
        self.application = application
        self.report = report
        super.init()
    }

    /// Publishes the activity after the view has loaded.
    func viewDidLoad() {
        if userActivity?.activityType != Self.activityType {
            userActivity?.invalidate()
            let activity = NSUserActivity(activityType: Self.activityType, application: application)
            activity.title = "Looking around"
            activity.requiredUserInfoKeys = [Self.regionKey]
            userActivity = activity
        }
        regionDidChange()
    }

    /// Moves the map, as often as the user wants. The activity is updated when the daemon requests
    /// it, not at each step.
    func show(_ region: Region) {
        guard region != self.region else { return }
        self.region = region
        regionDidChange()
    }

    private func regionDidChange() {
        userActivity?.needsSave = true
        report("region \(region.text)")
    }

    /// Returns the viewport of an activity.
    /// - Returns: nil if it has none, or its bytes are not a viewport.
    static func viewport(of activity: NSUserActivity) -> Viewport? {
        (activity.userInfo?[regionKey] as? Data).flatMap(Viewport.init(packed:))
    }

    override func updateUserActivityState(_ activity: NSUserActivity) {
        super.updateUserActivityState(activity)
        activity.userInfo = [Self.regionKey: Viewport(region).packed]
        updates += 1
        report("saved \(updates)")
    }

    override func restoreUserActivityState(_ activity: NSUserActivity) {
        super.restoreUserActivityState(activity)
        guard activity.activityType == Self.activityType, let viewport = Self.viewport(of: activity) else { return }
        show(viewport.region)
    }
}
