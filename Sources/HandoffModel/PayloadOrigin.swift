package import HandoffJSON

/// The app that an activity comes from, as its payload names it: claims of a process, good for display and for
/// telling versions apart, never for trust.
package struct PayloadOrigin: Sendable, Equatable {
    /// The app's identifier.
    package var app: String?
    /// The app's version, in whatever form it has.
    package var appVersion: String?

    /// An origin of which nothing or something is known.
    package init(app: String? = nil, appVersion: String? = nil) {
        self.app = app
        self.appVersion = appVersion
    }

    /// What a payload says; a field that is missing or of another type is not known.
    package init(payload: JSONObject) {
        self.init(
            app: payload[PayloadKey.app]?.string.flatMap(Self.bounded),
            appVersion: payload[PayloadKey.appVersion]?.string.flatMap(Self.bounded))
    }

    private static func bounded(_ text: String) -> String? {
        text.utf8.count <= Limits.appName ? text : nil
    }
}
