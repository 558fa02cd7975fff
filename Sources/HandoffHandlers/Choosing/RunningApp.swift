package import HandoffModel

/// An app that is attached now, as it is chosen from.
package struct RunningApp: Sendable, Equatable {
    /// Names the attachment.
    package let session: String
    /// What the app calls itself: its id, if it keeps to that.
    package let app: String
    /// The types that it said to continue.
    package let types: Set<ActivityType>
    /// Its team; nil matches only nil.
    package let team: String?
    /// Attachments are numbered, and of several the latest is preferred.
    package let order: UInt64

    /// An attachment.
    package init(session: String, app: String, types: Set<ActivityType>, team: String?, order: UInt64) {
        self.session = session
        self.app = app
        self.types = types
        self.team = team
        self.order = order
    }

    /// Whether it continues activities of `type` made by `team`; see `TeamRule`.
    package func continues(_ type: ActivityType, team: String?) -> Bool {
        types.contains(type) && TeamRule.allows(type, from: team, to: self.team)
    }
}
