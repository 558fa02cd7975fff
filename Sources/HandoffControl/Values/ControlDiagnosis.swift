package import HandoffModel

/// The results of `Diagnose`: data about its own process and the other members that only the daemon
/// has.
package struct ControlDiagnosis: ControlValue {
    /// The state of another member of the account.
    package struct Member: ControlValue {
        /// The device.
        package var device: DeviceID
        /// Its name.
        package var name: String
        /// True if it is reachable now.
        package var online: Bool
        /// Seconds since data was last received from it, or nil if none was since the start of the
        /// daemon.
        package var heard: Double?
        /// Why the last connection to it failed. Nil if it succeeded, or a later one has.
        package var trouble: String?
        /// Seconds by which its clock was at least ahead of ours when it started, or nil if it was
        /// not.
        package var clockAhead: Double?

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
    /// Its permission bits, or nil if they can no longer be read.
    package var stateMode: Int?
    /// Maximum number of files that the daemon may have open.
    package var openFiles: Int?
    /// Maximum number of bytes that it may lock in memory.
    package var lockedMemory: Int?
    /// True if the daemon runs in its own user namespace, as its unit requires.
    package var isIsolated: Bool
    /// Unusable files of apps, each with its error.
    package var appProblems: [String]
    /// The other members.
    package var members: [Member]
    /// True if an interface used for discovery is up and has an address, or nil if unknown.
    package var network: Bool?
    /// Configured interfaces that the machine does not have.
    package var missingInterfaces: [String]?
    /// The configured address, if the machine does not have it.
    package var missingAddress: String?
    /// The state of notifications about offers. Nil from an older daemon.
    package var notifications: ControlNotifications?

    private enum CodingKeys: String, CodingKey {
        case stateFolder, stateMode, openFiles, lockedMemory
        case isIsolated = "isolated"
        case appProblems, members, network, missingInterfaces, missingAddress, notifications
    }

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

/// `Notifications`: whether offers are shown as notifications, and the outcomes of those shown.
package struct ControlNotifications: ControlValue {
    /// The state of notifications about offers. The raw value is the field `state`.
    package enum State: String, Codable, Sendable, CaseIterable {
        /// Offers are shown.
        case on
        /// Disabled by the configuration.
        case off
        /// No session of the user is in use, or its screen is locked.
        case away
        /// No notification server responds.
        case unavailable
        /// No notification server has been needed yet.
        case unknown
    }

    /// The outcome of an offer that still exists. The raw value is the field `outcome`.
    package enum Outcome: String, Codable, Sendable, CaseIterable {
        /// Its notification is on the screen.
        case shown
        /// The user closed its notification.
        case dismissed
        /// Its notification left the screen automatically, or the server refused it.
        case expired
        /// It was continued, or chosen in its notification.
        case accepted
    }

    /// An offer that had a notification, or needs none.
    package struct Offer: ControlValue {
        /// The device that offers it.
        package var device: DeviceID
        /// Its id.
        package var activity: ActivityID
        package var outcome: ReplyWord<Outcome>

        package init(device: DeviceID, activity: ActivityID, outcome: Outcome) {
            self.device = device
            self.activity = activity
            self.outcome = ReplyWord(outcome)
        }
    }

    package var state: ReplyWord<State>
    /// The outcomes of the current offers.
    package var offers: [Offer]

    package init(state: State, offers: [Offer] = []) {
        self.state = ReplyWord(state)
        self.offers = offers
    }
}
