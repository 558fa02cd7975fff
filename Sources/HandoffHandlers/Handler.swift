import HandoffJSON
package import HandoffModel

/// An app that is installed here, and what it continues, as a file of its own declares it.
package struct Handler: Sendable, Equatable {
    /// How the app is started.
    package enum Launch: Sendable, Equatable {
        /// By the desktop's launcher, with the absolute path of the desktop entry: terminals and the codes of `Exec` are the
        /// launcher's work.
        case desktopEntry(path: String)
        /// By the session bus, which starts it; where there is no bus, by the desktop's launcher.
        case bus(BusName, path: String)
        /// By these words; the first is an absolute path, or a name that is looked up in `PATH`. They run in `folder`, an absolute
        /// path; nil means the home directory.
        case command([String], folder: String? = nil)
        /// By another process, which has read the file: all that is known here is of which kind that is.
        case elsewhere(Source)
    }

    /// What kind of file declares an app; the raw value crosses sockets.
    package enum Source: String, Codable, Sendable, CaseIterable {
        /// A desktop entry.
        case desktop
        /// A manifest.
        case manifest
    }

    /// Names the app, also as it attaches.
    package let id: AppID
    /// What people call it, in the user's language where the file has that.
    package let name: String
    /// The types that it continues.
    package let types: Set<ActivityType>
    /// From which versions of the app at the origin it continues them.
    package let versions: [ActivityType: VersionRange]
    /// The team that an activity must have, as bytes; nil matches only nil.
    package let team: String?
    /// The web sites whose pages it opens.
    package let domains: [DomainClaim]
    /// How it is started.
    package let launch: Launch
    /// Its icon: a name in the desktop's theme, or an absolute path; nil when the file names none.
    package let icon: String?
    /// The file that says all this, for people.
    package let path: String
    /// When the file came to be as it is, in nanoseconds since 1970: an update makes it new.
    package let installed: Int64

    /// An app as a file declares it.
    package init(
        id: AppID, name: String, types: Set<ActivityType>, versions: [ActivityType: VersionRange] = [:], team: String?,
        domains: [DomainClaim], launch: Launch, icon: String? = nil, path: String, installed: Int64
    ) {
        self.id = id
        self.name = name
        self.types = types
        self.versions = versions
        self.team = team
        self.domains = domains
        self.launch = launch
        self.icon = icon
        self.path = path
        self.installed = installed
    }

    /// An order by the age of the files.
    static func isOlder(_ left: Handler, _ right: Handler) -> Bool {
        left.installed == right.installed ? left.id < right.id : left.installed < right.installed
    }

    /// What kind of file declares it.
    package var source: Source {
        switch launch {
        case .desktopEntry, .bus: .desktop
        // Of a desktop entry with X-Handoff-Exec, too.
        case .command: path.hasSuffix(".desktop") ? .desktop : .manifest
        case .elsewhere(let source): source
        }
    }

    /// Whether it continues activities of `type` made by `team`; see `TeamRule`.
    package func continues(_ type: ActivityType, team: String?) -> Bool {
        types.contains(type) && TeamRule.allows(type, from: team, to: self.team)
    }

    /// Whether it claims the site with this host.
    package func claims(_ host: String) -> Bool {
        domains.contains { $0.covers(host) }
    }
}

/// Which teams continue what: both must be equal as bytes, and no team equals only no team.
package enum TeamRule {
    /// Whether an app of `team` may continue an activity of `type` from `origin`; browsing the web crosses teams
    /// (`NSUserActivityTypeBrowsingWeb`).
    package static func allows(_ type: ActivityType, from origin: String?, to team: String?) -> Bool {
        type == .browsingWeb || areSame(origin, team)
    }

    /// Whether two teams are the same one.
    package static func areSame(_ left: String?, _ right: String?) -> Bool {
        left.hasSameBytes(as: right)
    }
}
