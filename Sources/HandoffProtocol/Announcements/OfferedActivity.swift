package import HandoffModel

/// What another device says about an activity that can be continued from it; the payload is fetched later.
package struct OfferedActivity: Sendable {
    /// Random id, void as soon as the activity is withdrawn.
    package let id: ActivityID

    /// Type of the activity.
    package let type: ActivityType

    /// What the user calls it; nil when there is none or titles are switched off.
    package let title: String?

    /// Team of the app; only apps of the same team continue it, save for the web.
    package let team: String?

    /// The continuing app may ask for streams.
    package let supportsStreams: Bool

    /// A web page can take over where no app does.
    package let hasWebpageURL: Bool

    /// Seconds since it became what the user does, when this was written.
    package let age: UInt32

    /// Describes an activity; texts longer than their limits are the caller's to cut.
    package init(
        id: ActivityID, type: ActivityType, title: String?, team: String?, supportsStreams: Bool,
        hasWebpageURL: Bool, age: UInt32
    ) {
        self.id = id
        self.type = type
        self.title = title
        self.team = team
        self.supportsStreams = supportsStreams
        self.hasWebpageURL = hasWebpageURL
        self.age = age
    }

    /// True when nothing differs but the age, so that no user would see a change.
    package func hasSameContent(as other: OfferedActivity) -> Bool {
        id == other.id && type == other.type && Self.isSame(title, other.title) && Self.isSame(team, other.team)
            && supportsStreams == other.supportsStreams && hasWebpageURL == other.hasWebpageURL
    }

    /// Texts are compared as bytes; `==` would take composed and decomposed letters for equal.
    private static func isSame(_ left: String?, _ right: String?) -> Bool {
        switch (left, right) {
        case (nil, nil): true
        case (let left?, let right?): left.utf8.elementsEqual(right.utf8)
        case (nil, _?), (_?, nil): false
        }
    }
}

extension OfferedActivity: Hashable {
    /// Equal in all fields, texts as bytes.
    package static func == (left: OfferedActivity, right: OfferedActivity) -> Bool {
        left.hasSameContent(as: right) && left.age == right.age
    }

    /// Hashes the id alone: it is random, and two values with one id are rare.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(id)
    }
}
