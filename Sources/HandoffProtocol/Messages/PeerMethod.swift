/// Names of requests and notices between devices.
package enum PeerMethod {
    /// Request `{activity: hex}`: hand over an activity; answered with its payload.
    package static let continueActivity = "continue"

    /// Request `{}`: everything that is offered; answered with ``ActivityList``.
    package static let activities = "activities"

    /// Request `{activity: hex, resource: ?text}`: a stream of an activity that was continued, and what it is for; answered
    /// with `{ticket: hex}`.
    package static let openStream = "openStream"

    /// Notice `{activity: hex}`: an app here has taken the activity over.
    package static let wasContinued = "wasContinued"
}
