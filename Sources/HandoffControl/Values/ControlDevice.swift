package import HandoffModel

/// `Device`: a device of the account.
package struct ControlDevice: ControlValue {
    /// Its id.
    package var id: DeviceID
    /// The name that its owner gave it; a claim of that device.
    package var name: String
    /// The label to show: its name, with the beginning of its id if another device has a similar name. Nil from an older daemon.
    package var label: String?
    /// What it is.
    package var kind: DeviceKind
    /// Whether it is this device; the field `self`.
    package var isSelf: Bool
    /// Whether it is reachable now.
    package var online: Bool
    /// Whether it is known to have the account key in force.
    package var current: Bool
    /// Whether it was admitted by pairing here, and has not said yet that it has stored the account.
    package var unfinished: Bool
    /// The device that let it in; nil for the founder.
    package var admittedBy: DeviceID?
    /// How many seconds ago it was heard last; nil: not since the start of the daemon, and of this device itself.
    package var heard: Double?
    /// When it said that it goes to sleep, in seconds since 1970; nil of one that is there, or has gone in another way.
    package var asleepSince: Double?

    private enum CodingKeys: String, CodingKey {
        case id, name, label, kind
        case isSelf = "self"
        case online, current, unfinished, admittedBy, heard, asleepSince
    }

    /// A device with these properties.
    package init(
        id: DeviceID, name: String, label: String? = nil, kind: DeviceKind, isSelf: Bool, online: Bool,
        current: Bool = true,
        unfinished: Bool = false, admittedBy: DeviceID? = nil, heard: Double? = nil,
        asleepSince: Double? = nil
    ) {
        self.id = id
        self.name = name
        self.label = label
        self.kind = kind
        self.isSelf = isSelf
        self.online = online
        self.current = current
        self.unfinished = unfinished
        self.admittedBy = admittedBy
        self.heard = heard
        self.asleepSince = asleepSince
    }
}

extension DeviceNames {
    /// The names of the devices of the account.
    package init(_ devices: [ControlDevice]) {
        self.init(Dictionary(devices.map { ($0.id, $0.name) }) { first, _ in first })
    }
}

/// The results of `RemoveDevice`: who has heard of it.
package struct RemovalEvent: ControlValue {
    /// What the results tell.
    package enum Kind: String, Codable, Sendable {
        /// The device is removed, and a new account key holds.
        case removed
        /// One more member has that key.
        case confirmed
    }

    /// What is told.
    package var kind: Kind
    /// The device that was removed.
    package var device: DeviceID
    /// Members that have the new key, this device included.
    package var confirmed: [DeviceID]
    /// Members that have yet to hear: until then the removed device reads what they offer.
    package var waiting: [DeviceID]

    private enum CodingKeys: String, CodingKey {
        case kind = "event"
        case device, confirmed, waiting
    }

    /// Results with these properties.
    package init(kind: Kind, device: DeviceID, confirmed: [DeviceID], waiting: [DeviceID]) {
        self.kind = kind
        self.device = device
        self.confirmed = confirmed
        self.waiting = waiting
    }
}
