import ExampleSupport
import Foundation
import HandoffKit

/// The map, and the activity that says what is seen of it.
final class MapController: UIResponder {
    /// The one type of activity that there is.
    static let activityType = "com.example.mapoff.viewport"
    private static let regionKey = "region"

    /// What is seen.
    private(set) var region = Region.world

    private let application: HandoffApplication
    private let say: (String) -> Void
    private var updates = 0

    /// A map of the whole world. Nothing is current before `viewDidLoad()`.
    init(_ application: HandoffApplication = .shared, say: @escaping (String) -> Void) {
        self.application = application
        self.say = say
        super.init()
    }

    /// The view is there.
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

    /// The user moves the map, at any pace: the activity is brought up to date when the daemon asks for it, not at each
    /// step.
    func show(_ region: Region) {
        guard region != self.region else { return }
        self.region = region
        regionDidChange()
    }

    private func regionDidChange() {
        userActivity?.needsSave = true
        say("region \(region.text)")
    }

    /// What an activity says of the viewport.
    /// - Returns: nil when it says nothing, or bytes that are no viewport.
    static func viewport(of activity: NSUserActivity) -> Viewport? {
        (activity.userInfo?[regionKey] as? Data).flatMap(Viewport.init(packed:))
    }

    override func updateUserActivityState(_ activity: NSUserActivity) {
        super.updateUserActivityState(activity)
        activity.userInfo = [Self.regionKey: Viewport(region).packed]
        updates += 1
        say("saved \(updates)")
    }

    override func restoreUserActivityState(_ activity: NSUserActivity) {
        super.restoreUserActivityState(activity)
        guard activity.activityType == Self.activityType, let viewport = Self.viewport(of: activity) else { return }
        show(viewport.region)
    }
}
