import HandoffKit

/// A view of the app: writes the state into the activity that it presents, and restores it from one
/// that is continued.
///
/// Unchecked Sendable: only used on the app's queue.
final class Responder: HandoffResponder, @unchecked Sendable {
    private unowned let app: KitApp

    /// Creates a view without an activity.
    init(_ app: KitApp) {
        self.app = app
        super.init()
    }

    override func updateUserActivityState(_ activity: NSUserActivity) {
        app.report("update", ["name": app.name(of: activity), "members": activity.userInfo?.count ?? 0])
        activity.addUserInfoEntries(from: ["view": app.count])
    }

    override func restoreUserActivityState(_ userActivity: NSUserActivity) {
        app.report("restore", ["userInfo": plain(userActivity.userInfo ?? [:])])
    }
}
