package import HandoffModel

/// The results of `GetStatus`.
package struct ControlStatus: ControlValue {
    /// The daemon's version.
    package var daemon: String
    /// This device.
    package var device: DeviceID
    /// This device's name.
    package var name: String
    /// What this device is.
    package var kind: DeviceKind
    /// The account, or nil when there is none.
    package var account: AccountID?
    /// What this device is in the account, or nil when there is none.
    package var standing: Standing?
    /// The account's epoch, or nil when there is no account.
    package var epoch: UInt64?
    /// The discovery in use: `avahi`, `embedded`, `static` or `none`.
    package var discovery: String
    /// How that discovery is doing, in a word or a fragment.
    package var discoveryState: String
    /// The TCP and UDP port.
    package var port: UInt16
    /// Who is reachable, and what is to be reached.
    package var peers: [ControlPeer]
    /// Activities of apps here.
    package var published: Int
    /// Activities that other devices offer.
    package var offered: Int
    /// Exports of the account that can still be imported.
    package var tickets: [ControlTicket]
    /// Whether this device offers anything to others.
    package var advertising: Bool
    /// Whether this device shows and takes over what others offer.
    package var receiving: Bool
    /// What keeps it from either now, for all devices or for one.
    package var holds: [ControlRestriction]
    /// What is wrong, in sentences for people.
    package var warnings: [String]
    /// Since when no other device has answered, in seconds since 1970; nil while that is less than a day.
    package var unansweredSince: Double?
    /// Whether the machine saves power, so that what can wait wakes it less often.
    package var savesPower: Bool

    /// The status with these properties.
    package init(
        daemon: String, device: DeviceID, name: String, kind: DeviceKind, account: AccountID?,
        standing: Standing? = nil, epoch: UInt64?,
        discovery: String, discoveryState: String, port: UInt16, peers: [ControlPeer], published: Int, offered: Int,
        tickets: [ControlTicket], switches: ControlSwitches = ControlSwitches(), warnings: [String],
        unansweredSince: Double? = nil, savesPower: Bool = false
    ) {
        self.daemon = daemon
        self.device = device
        self.name = name
        self.kind = kind
        self.account = account
        self.standing = standing
        self.epoch = epoch
        self.discovery = discovery
        self.discoveryState = discoveryState
        self.port = port
        self.peers = peers
        self.published = published
        self.offered = offered
        self.tickets = tickets
        advertising = switches.advertising
        receiving = switches.receiving
        holds = switches.holds
        self.warnings = warnings
        self.unansweredSince = unansweredSince
        self.savesPower = savesPower
    }

    /// What is switched on, and why something is not.
    package var switches: ControlSwitches {
        ControlSwitches(advertising: advertising, receiving: receiving, holds: holds)
    }
}
