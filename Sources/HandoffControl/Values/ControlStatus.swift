package import HandoffModel

/// The results of `GetStatus`.
package struct ControlStatus: ControlValue {
    /// The daemon's version.
    package var daemon: String
    /// This device.
    package var device: DeviceID
    /// This device's name.
    package var name: String
    /// The kind of this device.
    package var kind: DeviceKind
    /// The account, or nil if there is none.
    package var account: AccountID?
    /// The standing of this device in the account, or nil if there is none.
    package var standing: ReplyWord<Standing>?
    /// The account's epoch, or nil if there is no account.
    package var epoch: UInt64?
    /// The discovery in use: `avahi`, `embedded`, `static` or `none`.
    package var discovery: String
    /// The state of that discovery, as a word or a fragment.
    package var discoveryState: String
    /// The TCP and UDP port.
    package var port: UInt16
    /// Reachable devices and addresses to be reached.
    package var peers: [ControlPeer]
    /// Number of activities published by local apps.
    package var published: Int
    /// Number of activities that other devices offer.
    package var offered: Int
    /// Exports of the account that can still be imported.
    package var tickets: [ControlTicket]
    /// True if this device offers anything to others.
    package var advertising: Bool
    /// True if this device shows and continues offers of others.
    package var receiving: Bool
    /// Why either is off now, for all devices or for one.
    package var holds: [ControlRestriction]
    /// Problems, as sentences for users.
    package var warnings: [String]
    /// When another device last responded, in seconds since 1970. Nil if less than a day ago.
    package var unansweredSince: Double?
    /// True if the machine saves power, so that deferrable work wakes it less often.
    package var savesPower: Bool
    /// True if this device keeps activities of others, and lets them keep its own.
    package var keeping: Bool

    package init(
        daemon: String, device: DeviceID, name: String, kind: DeviceKind, account: AccountID?,
        standing: Standing? = nil, epoch: UInt64?,
        discovery: String, discoveryState: String, port: UInt16, peers: [ControlPeer], published: Int, offered: Int,
        tickets: [ControlTicket], switches: ControlSwitches = ControlSwitches(), warnings: [String],
        unansweredSince: Double? = nil, savesPower: Bool = false, keeping: Bool = false
    ) {
        self.daemon = daemon
        self.device = device
        self.name = name
        self.kind = kind
        self.account = account
        self.standing = standing.map(ReplyWord.init)
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
        self.keeping = keeping
    }

    /// The switches, with the reasons for those that are off.
    package var switches: ControlSwitches {
        ControlSwitches(advertising: advertising, receiving: receiving, holds: holds)
    }
}
