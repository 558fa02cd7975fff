import HandoffControl
import HandoffJSON

/// Activities for tests.
enum Note {
    static let type = "org.example.note"

    /// A note with a text.
    /// - Parameter needsSave: whether its app must be asked to save before others receive it.
    static func activity(_ text: String, title: String? = nil, needsSave: Bool = false) -> ActivityDescription {
        var activity = ActivityDescription(type: type)
        activity.title = title
        activity.userInfo = userInfo(text)
        activity.needsSave = needsSave
        return activity
    }

    static func userInfo(_ text: String) -> JSONObject { ["text": .string(text)] }

    /// Changes only the text.
    static func change(_ text: String) -> ActivityChange {
        var change = ActivityChange()
        change.userInfo = userInfo(text)
        return change
    }

    /// The app has changed the note and not updated the daemon.
    static var unsaved: ActivityChange {
        var change = ActivityChange()
        change.needsSave = true
        return change
    }
}
