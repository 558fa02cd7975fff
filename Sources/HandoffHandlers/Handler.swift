import HandoffJSON
package import HandoffModel

/// An installed app and the activities that it continues, as declared by its file.
package struct Handler: Sendable, Equatable {
    /// A way to start the app.
    package enum Launch: Sendable, Equatable {
        /// With the desktop's launcher and the absolute path of the desktop entry. The launcher
        /// handles terminals and the field codes of `Exec`.
        case desktopEntry(path: String)
        /// Through the session bus, which starts it. Without a bus, with the desktop's launcher.
        case bus(BusName, path: String)
        /// With this command. The first word is an absolute path, or a name to look up in `PATH`.
        /// `folder` is the working directory, an absolute path; nil for the home directory.
        case command([String], folder: String? = nil)
        /// In another process, which has read the file. Only the kind of file is known here.
        case elsewhere(Source)
    }

    /// The kind of file that declares an app. The raw value is sent over sockets.
    package enum Source: String, Codable, Sendable, CaseIterable {
        /// A desktop entry.
        case desktop
        /// A manifest.
        case manifest
    }

    /// The app's id, which it also uses to attach.
    package let id: AppID
    /// The display name, in the user's language if available.
    package let name: String
    /// The activity types that it continues.
    package let types: Set<ActivityType>
    /// For each type, the versions of the originating app whose activities it continues.
    package var versions: [ActivityType: VersionRange] = [:]
    /// The team that an activity must have, compared by bytes; nil matches only nil.
    package let team: String?
    /// The web sites whose pages it opens.
    package let domains: [DomainClaim]
    /// The way to start it.
    package let launch: Launch
    /// The icon: a name in the desktop's theme, or an absolute path; nil if the file has none.
    package var icon: String?
    /// The declaring file, for display.
    package let path: String
    /// The time of the last change of the file, in nanoseconds since 1970. An update changes it.
    package let installed: Int64

    /// Orders apps by the age of their files.
    static func isOlder(_ left: Handler, _ right: Handler) -> Bool {
        left.installed == right.installed ? left.id < right.id : left.installed < right.installed
    }

    /// The kind of file that declares the app.
    package var source: Source {
        switch launch {
        case .desktopEntry, .bus: .desktop
        // Includes desktop entries with X-Handoff-Exec.
        case .command: path.hasSuffix(".desktop") ? .desktop : .manifest
        case .elsewhere(let source): source
        }
    }

    /// True if the app continues activities of `type` from `team`; see `TeamRule`.
    package func continues(_ type: ActivityType, team: String?) -> Bool {
        types.contains(type) && TeamRule.allows(type, from: team, to: self.team)
    }

    /// True if the app claims the site with this host.
    func claims(_ host: String) -> Bool {
        domains.contains { $0.covers(host) }
    }
}

/// The condition on teams: both must be equal as bytes, and no team equals only no team.
package enum TeamRule {
    /// True if an app of `team` may continue an activity of `type` from `origin`. Web browsing
    /// (`NSUserActivityTypeBrowsingWeb`) is independent of teams.
    package static func allows(_ type: ActivityType, from origin: String?, to team: String?) -> Bool {
        type == .browsingWeb || areSame(origin, team)
    }

    /// True if both teams are the same.
    static func areSame(_ left: String?, _ right: String?) -> Bool {
        left.hasSameBytes(as: right)
    }
}
