package import HandoffModel

/// The choice of what opens an activity, and the reason.
package struct HandlerDecision: Sendable, Equatable {
    /// A way to open an activity.
    package enum Opener: Sendable, Equatable {
        /// A running app, identified by its attachment.
        case running(session: String)
        /// An app to start.
        case launch(Handler)
        /// The web browser, with the activity's page.
        case browser
        /// An app that claims the page's site, or the browser. The page is known only after the
        /// activity has arrived.
        case page
        /// No app or browser opens it.
        case nothing
    }

    /// The reason for a choice.
    package enum Reason: Sendable, Equatable {
        /// The app is already running.
        case running
        /// The user chose it, in the file `defaults` or as the browser in the desktop's settings.
        case chosen
        /// No other app matches.
        case only
        /// The app was installed first of this number of matching apps, and the user has not
        /// chosen.
        case first(of: Int)
        /// The app claims the site of the page.
        case claims(host: String)
        /// No app continues the activity, and it has a page.
        case hasPage
        /// No app continues the type.
        case noApp(ActivityType)
        /// The chosen app does not continue the type.
        case otherApp(ActivityType, app: String)
        /// An app continues the type, but for a different team.
        case otherTeam(ActivityType, app: String)
        /// An app continues the type, but is disabled.
        case disabled(app: String)
        /// The page's address is invalid.
        case badPage
        /// No app continues the activity, and no program that opens web pages is installed.
        case noBrowser
    }

    /// The way to open the activity.
    package let opener: Opener
    /// The display name of the app; nil for web pages and if nothing opens it.
    package let name: String?
    /// The reason for the choice.
    package let reason: Reason

    init(_ opener: Opener, name: String? = nil, _ reason: Reason) {
        self.opener = opener
        self.name = name
        self.reason = reason
    }

    /// The reason as a sentence fragment, for display after the opener.
    package var words: String {
        switch reason {
        case .running: "it is running"
        case .chosen: "chosen by the user"
        case .only: "the only app that continues it"
        case .first(let count): "the first installed of \(count) apps that continue it"
        case .claims(let host): "it claims \(host)"
        case .hasPage: "no app continues it, and it has a web page"
        case .noApp(let type): "no app continues \(type.text)"
        case .otherApp(let type, let app): "\(app) does not continue \(type.text)"
        case .otherTeam(let type, let app): "\(app) continues \(type.text), but for another team"
        case .disabled(let app): "\(app) continues it, but is disabled"
        case .badPage: "no app continues it, and the address of its web page cannot be opened"
        case .noBrowser: "no app continues it, and xdg-open and gio, which open web pages, are not installed"
        }
    }
}

/// An attached app.
package struct RunningApp: Sendable, Equatable {
    /// The id of the attachment.
    package let session: String
    /// The name that the app attached with: its id, if it follows the convention.
    package let app: String
    /// The types that the app declared when it attached.
    package let types: Set<ActivityType>
    /// Its team; nil matches only nil.
    let team: String?
    /// The number of the attachment. Of several, the latest is preferred.
    package let order: UInt64

    package init(session: String, app: String, types: Set<ActivityType>, team: String?, order: UInt64) {
        self.session = session
        self.app = app
        self.types = types
        self.team = team
        self.order = order
    }

    /// True if the app continues activities of `type` from `team`; see `TeamRule`.
    package func continues(_ type: ActivityType, team: String?) -> Bool {
        types.contains(type) && TeamRule.allows(type, from: team, to: self.team)
    }
}
