import HandoffControl
import HandoffModel

/// The page in the tab that is in front.
package struct FrontPage: Sendable, Equatable {
    /// The page's address.
    var url: String
    /// The title shown in the tab; empty if there is none.
    var title: String
    /// Firefox's name for the tab's container; nil for none, and in browsers without containers.
    var container: String?

    /// - Parameter title: Of any length; cut to the limit of activities.
    package init(url: String, title: String, container: String? = nil) {
        self.url = url
        self.title = title.prefix(utf8Count: Limits.title)
        self.container = container
    }

    /// The activity of the page.
    var activity: ActivityDescription {
        var activity = ActivityDescription(type: ActivityType.browsingWeb.text)
        activity.title = title.isEmpty ? nil : title
        activity.webpageURL = url
        activity.savesOnContinue = true
        return activity
    }
}
