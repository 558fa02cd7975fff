package import HandoffControl
import HandoffModel

/// The page in the tab that is in front.
package struct FrontPage: Sendable, Equatable {
    /// Its address.
    package var url: String
    /// Its title, as the tab shows it; empty for none.
    package var title: String
    /// Firefox's name for the container of the tab; nil for none, and for browsers without them.
    package var container: String?

    /// - Parameter title: of any length; it is cut to what an activity may have.
    package init(url: String, title: String, container: String? = nil) {
        self.url = url
        self.title = title.prefix(utf8Count: Limits.title)
        self.container = container
    }

    /// The activity that it is.
    package var activity: ActivityDescription {
        var activity = ActivityDescription(type: ActivityType.browsingWeb.text)
        activity.title = title.isEmpty ? nil : title
        activity.webpageURL = url
        activity.savesOnContinue = true
        return activity
    }
}
