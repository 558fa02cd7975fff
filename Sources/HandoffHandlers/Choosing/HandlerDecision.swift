package import HandoffModel

/// What opens an activity, and why it is this.
package struct HandlerDecision: Sendable, Equatable {
    /// What opens it.
    package enum Opener: Sendable, Equatable {
        /// An app that runs, by its attachment.
        case running(session: String)
        /// An app that is to be started.
        case launch(Handler)
        /// The web browser, with the activity's page.
        case browser
        /// An app that claims the page's site, or the browser: the page is known only once the activity has come.
        case page
        /// Nothing.
        case nothing
    }

    /// Why it is this.
    package enum Reason: Sendable, Equatable {
        /// The app runs already.
        case running
        /// The user chose it: in the file `defaults`, or as browser in the settings of the desktop.
        case chosen
        /// No other app fits.
        case only
        /// Of so many that fit it was here first, and the user has not chosen.
        case first(of: Int)
        /// The app claims the site of the page.
        case claims(host: String)
        /// No app continues it, and it has a page.
        case hasPage
        /// No app continues the type.
        case noApp(ActivityType)
        /// An app continues the type, but its team is another than the activity's.
        case otherTeam(ActivityType, app: String)
        /// An app continues it, but was switched off.
        case disabled(app: String)
        /// The page's address cannot be opened.
        case badPage
        /// No app continues it, and there is no program that opens its page.
        case noBrowser
    }

    /// What opens it.
    package let opener: Opener
    /// What people call that; nil for the web and for nothing.
    package let name: String?
    /// Why it is this.
    package let reason: Reason

    /// A decision.
    package init(_ opener: Opener, name: String? = nil, _ reason: Reason) {
        self.opener = opener
        self.name = name
        self.reason = reason
    }

    /// The reason in words: a fragment that follows what opens it.
    package var words: String {
        switch reason {
        case .running: "it is running"
        case .chosen: "chosen by the user"
        case .only: "the only app that continues it"
        case .first(let count): "the first that was here of \(count) apps that continue it"
        case .claims(let host): "it claims \(host)"
        case .hasPage: "no app continues it, and it has a web page"
        case .noApp(let type): "no app continues \(type.text)"
        case .otherTeam(let type, let app): "\(app) continues \(type.text), but of another team"
        case .disabled(let app): "\(app) continues it, but is switched off"
        case .badPage: "no app continues it, and the address of its web page cannot be opened"
        case .noBrowser: "no app continues it, and neither xdg-open nor gio is there to open its web page"
        }
    }
}

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
