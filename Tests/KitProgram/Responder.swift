import HandoffKit

/// A view of the app: writes the state into the activity that it shows, and takes it from one that is continued.
///
/// Unchecked Sendable: used on the app's queue alone.
final class Responder: HandoffResponder, @unchecked Sendable {
    private unowned let app: KitApp

    /// A view without an activity.
    init(_ app: KitApp) {
        self.app = app
        super.init()
    }

    override func updateUserActivityState(_ activity: NSUserActivity) {
        app.say("update", ["name": app.name(of: activity), "members": activity.userInfo?.count ?? 0])
        activity.addUserInfoEntries(from: ["view": app.count])
    }

    override func restoreUserActivityState(_ userActivity: NSUserActivity) {
        app.say("restore", ["userInfo": plain(userActivity.userInfo ?? [:])])
    }
}
