/// `App`: an app that continues activities here, is attached, or is switched off.
package struct ControlApp: ControlValue {
    /// The source of the app's declaration. The raw value is the field `source`.
    package enum Source: String, Codable, Sendable, CaseIterable {
        /// A desktop entry.
        case desktop
        /// A manifest.
        case manifest
        /// It is attached and has no file.
        case attached
        /// It is switched off and otherwise unknown.
        case none
    }

    /// A claim of the app that another app takes precedence for.
    package struct Yield: ControlValue {
        /// The type, or the site as written.
        package var claim: String
        /// The id of the app that opens it.
        package var to: String

        package init(claim: String, to: String) {
            self.claim = claim
            self.to = to
        }
    }

    /// Its id, or the id that it claims.
    package var id: String
    /// Its name for users.
    package var name: String
    /// The source of the app's declaration.
    var source: ReplyWord<Source>
    /// The file that declares it.
    package var file: String?
    /// The types that it continues.
    package var types: [String]
    /// Its team.
    var team: String?
    /// The web sites that it claims, as written.
    package var domains: [String]
    /// True if it is attached.
    package var running: Bool
    /// True if the system confirms that the attached process is this app, or nil if none is
    /// attached.
    package var verified: Bool?
    /// True if it may publish and continue.
    package var enabled: Bool
    /// True if notifications are shown for offers that it would open.
    package var notified: Bool
    /// True if other devices may keep its activities. Nil from an older daemon.
    package var kept: Bool?
    /// Claims of the app that another app opens, which was here first, because the user has not
    /// chosen. Nil from an older daemon.
    package var yields: [Yield]?

    package init(
        id: String, name: String, source: Source, file: String?, types: [String], team: String?, domains: [String],
        running: Bool, verified: Bool?, enabled: Bool, notified: Bool = true, kept: Bool? = true,
        yields: [Yield]? = []
    ) {
        self.id = id
        self.name = name
        self.source = ReplyWord(source)
        self.file = file
        self.types = types
        self.team = team
        self.domains = domains
        self.running = running
        self.verified = verified
        self.enabled = enabled
        self.notified = notified
        self.kept = kept
        self.yields = yields
    }
}
