package import HandoffJSON
package import HandoffModel

/// The results of `GetStatus`.
package struct ControlStatus: Sendable, Equatable {
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
    /// What is switched on, and why something is not.
    package var switches: ControlSwitches
    /// What is wrong, in sentences for people.
    package var warnings: [String]

    /// The status with these properties.
    package init(
        daemon: String, device: DeviceID, name: String, kind: DeviceKind, account: AccountID?, epoch: UInt64?,
        discovery: String, discoveryState: String, port: UInt16, peers: [ControlPeer], published: Int, offered: Int,
        tickets: [ControlTicket], switches: ControlSwitches = ControlSwitches(), warnings: [String]
    ) {
        self.daemon = daemon
        self.device = device
        self.name = name
        self.kind = kind
        self.account = account
        self.epoch = epoch
        self.discovery = discovery
        self.discoveryState = discoveryState
        self.port = port
        self.peers = peers
        self.published = published
        self.offered = offered
        self.tickets = tickets
        self.switches = switches
        self.warnings = warnings
    }

    /// Reads the results; throws `invalidParameter`.
    package init(json: JSONObject) throws(VarlinkError) {
        let fields = Fields(json)
        guard let port = UInt16(exactly: try fields.integer("port")) else { throw fields.invalid("port") }
        var peers: [ControlPeer] = []
        for peer in try fields.list("peers") { peers.append(try ControlPeer(peer)) }
        self.init(
            daemon: try fields.text("daemon"), device: try fields.id("device"), name: try fields.text("name"),
            kind: try fields.kind("kind"), account: try fields.account(), epoch: try fields.epoch(),
            discovery: try fields.text("discovery"), discoveryState: try fields.text("discoveryState"), port: port,
            peers: peers, published: try fields.integer("published"), offered: try fields.integer("offered"),
            tickets: try fields.tickets(), switches: try ControlSwitches(json: json),
            warnings: try fields.texts("warnings"))
    }

    /// The results on the socket.
    package var json: JSONObject {
        var json: JSONObject = [
            "daemon": .string(daemon), "device": .string(device.hex), "name": .string(name), "kind": .string(kind.name),
            "account": .nullable(account?.hex), "epoch": .nullable(epoch: epoch), "discovery": .string(discovery),
            "discoveryState": .string(discoveryState), "port": .integer(Int64(port)),
            "peers": .array(peers.map { .object($0.json) }), "published": .integer(Int64(published)),
            "offered": .integer(Int64(offered)), "tickets": .array(tickets.map { .object($0.json) }),
        ]
        for member in switches.json { json[member.key] = member.value }
        json["warnings"] = .texts(warnings)
        return json
    }
}

extension Fields {
    /// The field `account`.
    func account() throws(VarlinkError) -> AccountID? {
        try optionalText("account") == nil ? nil : try id("account")
    }

    /// The field `epoch`.
    func epoch() throws(VarlinkError) -> UInt64? {
        guard let number = try optionalInteger("epoch") else { return nil }
        guard let epoch = UInt64(exactly: number) else { throw invalid("epoch") }
        return epoch
    }

    /// The field `tickets`.
    func tickets() throws(VarlinkError) -> [ControlTicket] {
        var tickets: [ControlTicket] = []
        for ticket in try list("tickets") { tickets.append(try ControlTicket(ticket)) }
        return tickets
    }
}

extension JSON {
    /// An epoch, or null; epochs count removals and never come near the limit of an integer.
    static func nullable(epoch: UInt64?) -> JSON {
        epoch.map { .integer(Int64(clamping: $0)) } ?? .null
    }
}
