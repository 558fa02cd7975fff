package import HandoffModel

/// The results of `Diagnose`: what only the daemon knows of its own process, and of the other members.
package struct ControlDiagnosis: ControlValue {
    /// What is known of another member of the account.
    package struct Member: ControlValue {
        /// The device.
        package var device: DeviceID
        /// Its name.
        package var name: String
        /// Whether it can be reached now.
        package var online: Bool
        /// How many seconds ago it was last heard; nil: not since the start of the daemon.
        package var heard: Double?
        /// Why the last connection to it failed; nil when it did not, or another one has succeeded since.
        package var trouble: String?
        /// How many seconds its clock was at least ahead of ours when it started; nil when it was not.
        package var clockAhead: Double?

        /// A member with these properties.
        package init(
            device: DeviceID, name: String, online: Bool, heard: Double? = nil, trouble: String? = nil,
            clockAhead: Double? = nil
        ) {
            self.device = device
            self.name = name
            self.online = online
            self.heard = heard
            self.trouble = trouble
            self.clockAhead = clockAhead
        }
    }

    /// The state folder.
    package var stateFolder: String
    /// Its permission bits; nil when they cannot be read any more.
    package var stateMode: Int?
    /// How many files the daemon may have open.
    package var openFiles: Int?
    /// How many bytes it may keep out of swap.
    package var lockedMemory: Int?
    /// Whether the daemon runs in a user namespace of its own, as its unit asks for.
    package var isIsolated: Bool
    /// Files of apps that cannot be used, each with what is wrong with it.
    package var appProblems: [String]
    /// The other members.
    package var members: [Member]
    /// Whether an interface to be found on is up and has an address; nil when nobody can tell.
    package var network: Bool?
    /// Configured interfaces that the machine does not have.
    package var missingInterfaces: [String]?
    /// The configured address, if the machine does not have it.
    package var missingAddress: String?
    /// Whether offers are shown as notifications; daemons of before do not tell.
    package var notifications: ControlNotifications?

    private enum CodingKeys: String, CodingKey {
        case stateFolder, stateMode, openFiles, lockedMemory
        case isIsolated = "isolated"
        case appProblems, members, network, missingInterfaces, missingAddress, notifications
    }

    /// Results with these properties.
    package init(
        stateFolder: String, stateMode: Int?, openFiles: Int?, lockedMemory: Int?, isIsolated: Bool,
        appProblems: [String] = [], members: [Member], network: Bool? = nil, missingInterfaces: [String]? = nil,
        missingAddress: String? = nil, notifications: ControlNotifications? = nil
    ) {
        self.stateFolder = stateFolder
        self.stateMode = stateMode
        self.openFiles = openFiles
        self.lockedMemory = lockedMemory
        self.isIsolated = isIsolated
        self.appProblems = appProblems
        self.members = members
        self.network = network
        self.missingInterfaces = missingInterfaces
        self.missingAddress = missingAddress
        self.notifications = notifications
    }
}

/// `Notifications`: whether offers are shown as notifications, and what became of those that were.
package struct ControlNotifications: ControlValue {
    /// Whether offers are shown; the raw value is the field `state`.
    package enum State: String, Codable, Sendable, CaseIterable {
        /// They are.
        case on
        /// The configuration switches them off.
        case off
        /// No session of the user is in use, or its screen is locked.
        case away
        /// No notification server answers.
        case unavailable
        /// No notification server has been needed yet.
        case unknown
    }

    /// What became of an offer that is still there; the raw value is the field `outcome`.
    package enum Outcome: String, Codable, Sendable, CaseIterable {
        /// Its notification is on the screen.
        case shown
        /// The user closed its notification.
        case dismissed
        /// Its notification left the screen by itself, or the server refused it.
        case expired
        /// It was continued, or chosen in its notification.
        case accepted
    }

    /// An offer of which there was a notification, or which needs none any more.
    package struct Offer: ControlValue {
        /// The device that offers it.
        package var device: DeviceID
        /// Its id.
        package var activity: ActivityID
        /// What became of it.
        package var outcome: Outcome

        /// An offer with these properties.
        package init(device: DeviceID, activity: ActivityID, outcome: Outcome) {
            self.device = device
            self.activity = activity
            self.outcome = outcome
        }
    }

    /// Whether offers are shown.
    package var state: State
    /// What became of the present offers.
    package var offers: [Offer]

    /// A state with these properties.
    package init(state: State, offers: [Offer] = []) {
        self.state = state
        self.offers = offers
    }
}
