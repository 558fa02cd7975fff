package import HandoffJSON

/// `App`: an app that continues something here, is attached, or is switched off.
package struct ControlApp: Sendable, Equatable {
    /// Where it is known from; the raw value is the field `source`.
    package enum Source: String, Sendable, CaseIterable {
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
    package struct Yield: Sendable, Equatable {
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
    /// What it claims and another app opens, since that was here before and the user has not chosen.
    package var yields: [Yield]

    /// An app with these properties.
    package init(
        id: String, name: String, source: Source, file: String?, types: [String], team: String?, domains: [String],
        running: Bool, verified: Bool?, enabled: Bool, yields: [Yield] = []
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
        self.yields = yields
    }

    /// Reads the fields; throws `invalidParameter`.
    package init(_ fields: Fields) throws(VarlinkError) {
        guard let source = Source(rawValue: try fields.text("source")) else { throw fields.invalid("source") }
        // Daemons before it did not tell.
        var yields: [Yield] = []
        for yield in try fields.optionalList("yields") ?? [] {
            yields.append(Yield(claim: try yield.text("claim"), to: try yield.text("to")))
        }
        self.init(
            id: try fields.text("id"), name: try fields.text("name"), source: source,
            file: try fields.optionalText("file"), types: try fields.texts("types"),
            team: try fields.optionalText("team"), domains: try fields.texts("domains"),
            running: try fields.flag("running"), verified: try fields.optionalFlag("verified"),
            enabled: try fields.flag("enabled"), yields: yields)
    }

    /// The object on the socket.
    package var json: JSONObject {
        [
            "id": .string(id), "name": .string(name), "source": .string(source.rawValue), "file": .nullable(file),
            "types": .texts(types), "team": .nullable(team), "domains": .texts(domains), "running": .bool(running),
            "verified": verified.map { .bool($0) } ?? .null, "enabled": .bool(enabled),
            "yields": .array(yields.map { .object(["claim": .string($0.claim), "to": .string($0.to)]) }),
        ]
    }
}
