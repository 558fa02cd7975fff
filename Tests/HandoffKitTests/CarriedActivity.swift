import HandoffControl
import HandoffJSON
import HandoffKit
import HandoffModel
import HandoffTestSupport
import Testing

/// An activity that is being sent from one app to another, as in its daemon.
struct CarriedActivity {
    let type: ActivityType
    var title: String?
    var userInfo: JSONObject
    var webpageURL: String?
    var requiredUserInfoKeys: [String]
}

extension KitTest {
    /// Runs until the daemon has the latest state of an activity that became current. Requests a
    /// save.
    func carried(from activity: NSUserActivity) throws -> CarriedActivity {
        try run(until: "BecomeCurrent")
        activity.needsSave = true
        event(.save(lastID))
        try run { $0.contains { $0.hasPrefix("AnswerSave") } }
        let type = try #require(ActivityType(activity.activityType))
        return CarriedActivity(
            type: type, title: sent["title"]?.string, userInfo: sent["userInfo"]?.object ?? [:],
            webpageURL: sent["webpageURL"]?.string,
            requiredUserInfoKeys: sent["requiredUserInfoKeys"]?.array?.compactMap(\.string) ?? [])
    }

    /// Attaches, and delivers an activity to the app.
    func receive(_ carried: CarriedActivity) throws {
        try run(until: "Attach")
        var content = ActivityContent(type: carried.type)
        content.title = carried.title
        content.userInfo = carried.userInfo
        content.webpageURL = carried.webpageURL
        content.requiredUserInfoKeys = carried.requiredUserInfoKeys
        event(
            .continue(
                Sample.continuation,
                ContinuedActivity(id: Sample.activityID(0xA1), content: content, origin: Sample.origin)))
    }
}
