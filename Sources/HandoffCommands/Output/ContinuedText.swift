import HandoffControl
import HandoffJSON
import HandoffModel

/// A continued activity with its payload, for people.
enum ContinuedText {
    /// Readable fields, then the payload; whole lines.
    static func text(_ activity: ContinuedActivity) -> String {
        var fields: [(label: String, value: String)] = []
        func add(_ label: String, _ value: String?) {
            if let value, !value.isEmpty { fields.append((label, VisibleText.escape(value))) }
        }
        add("type", activity.type.text)
        add("title", activity.title)
        add("from", "\(activity.origin.deviceName) (\(activity.origin.deviceKind.name))")
        add(
            "app",
            activity.origin.app.map { app in
                activity.origin.appVersion.map { "\(app) \($0)" } ?? app
            })
        add("web page", activity.webpageURL)
        add("team", activity.team)
        add("required", activity.requiredUserInfoKeys.joined(separator: ", "))
        if activity.streams { add("streams", "supported") }
        // Escaped already, and meant to have several lines.
        fields.append(("userInfo", PrettyJSON.text(.object(activity.userInfo))))
        return ColumnTable.fields(fields)
    }
}
