/// `App`: an app that continues something here, is attached, or is switched off.
package struct ControlApp: ControlValue {
    /// Where it is known from; the raw value is the field `source`.
    package enum Source: String, Codable, Sendable, CaseIterable {
        /// A desktop entry.
        case desktop
        /// A manifest.
        case manifest
        /// It is attached, and has no file.
        case attached
        /// It is switched off, and nothing else is known of it.
        case none
    }

    /// Something that the app claims and another one opens.
    package struct Yield: ControlValue {
        /// The type, or the site as it is written.
        package var claim: String
        /// The id of the app that opens it.
        package var to: String

        /// The claim, and the app that it yields to.
        package init(claim: String, to: String) {
            self.claim = claim
            self.to = to
        }
    }

    /// Its id, or what it calls itself.
    package var id: String
    /// What people call it.
    package var name: String
    /// Where it is known from.
    package var source: Source
    /// The file that declares it.
    package var file: String?
    /// The types that it continues.
    package var types: [String]
    /// Its team.
    package var team: String?
    /// The web sites that it claims, as they are written.
    package var domains: [String]
    /// Whether it is attached.
    package var running: Bool
    /// Whether the system confirms that the attached process is this app; nil when none is attached.
    package var verified: Bool?
    /// Whether it may publish and continue.
    package var enabled: Bool
    /// Whether notifications are shown of what it would open.
    package var notified: Bool
    /// What it claims and another app opens, since that was here before and the user has not chosen;
    /// daemons of before do not tell.
    package var yields: [Yield]?

    /// An app with these properties.
    package init(
        id: String, name: String, source: Source, file: String?, types: [String], team: String?, domains: [String],
        running: Bool, verified: Bool?, enabled: Bool, notified: Bool = true, yields: [Yield]? = []
    ) {
        self.id = id
        self.name = name
        self.source = source
        self.file = file
        self.types = types
        self.team = team
        self.domains = domains
        self.running = running
        self.verified = verified
        self.enabled = enabled
        self.notified = notified
        self.yields = yields
    }
}
