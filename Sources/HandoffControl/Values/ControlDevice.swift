package import HandoffModel

/// `Device`: a device of the account.
package struct ControlDevice: ControlValue {
    /// Its id.
    package var id: DeviceID
    /// The name that its owner gave it; a claim of that device.
    package var name: String
    /// The label to show: its name, with the start of its id if another device has a similar name.
    /// Nil from an older daemon.
    package var label: String?
    /// The kind of device.
    package var kind: DeviceKind
    /// True if it is this device. The field is named `self`.
    package var isSelf: Bool
    /// True if it is reachable now.
    package var online: Bool
    /// True if it is known to have the current account key.
    package var current: Bool
    /// True if it was admitted by pairing here and has not confirmed yet that it stored the
    /// account.
    package var unfinished: Bool
    /// The device that admitted it, or nil for the founder.
    package var admittedBy: DeviceID?
    /// Seconds since data was last received from it. Nil if none was received since the start of
    /// the daemon, and for this device itself.
    package var heard: Double?
    /// When it announced that it goes to sleep, in seconds since 1970. Nil if it is online, or went
    /// offline in another way.
    package var asleepSince: Double?
    /// The maximum size in bytes of documents from it that are saved without a prompt. Nil if there
    /// is always a prompt.
    package var acceptLimit: Int64?

    private enum CodingKeys: String, CodingKey {
        case id, name, label, kind
        case isSelf = "self"
        case online, current, unfinished, admittedBy, heard, asleepSince, acceptLimit
    }

    package init(
        id: DeviceID, name: String, label: String? = nil, kind: DeviceKind, isSelf: Bool, online: Bool,
        current: Bool = true,
        unfinished: Bool = false, admittedBy: DeviceID? = nil, heard: Double? = nil,
        asleepSince: Double? = nil, acceptLimit: Int64? = nil
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
        self.acceptLimit = acceptLimit
    }
}

extension DeviceNames {
    /// Creates the names of the devices of the account.
    package init(_ devices: [ControlDevice]) {
        self.init(Dictionary(devices.map { ($0.id, $0.name) }) { first, _ in first })
    }
}

/// The results of `RemoveDevice`: the members that have been notified.
package struct RemovalEvent: ControlValue {
    /// The kind of event.
    package enum Kind: String, Codable, Sendable, CaseIterable {
        /// The device is removed, and a new account key is in use.
        case removed
        /// Another member has received that key.
        case confirmed
    }

    /// The kind of event.
    package var kind: ReplyWord<Kind>
    /// The device that was removed.
    package var device: DeviceID
    /// Members that have the new key, including this device.
    package var confirmed: [DeviceID]
    /// Members that have not been notified. Until they are, the removed device can read their
    /// offers.
    package var waiting: [DeviceID]

    private enum CodingKeys: String, CodingKey {
        case kind = "event"
        case device, confirmed, waiting
    }

    package init(kind: Kind, device: DeviceID, confirmed: [DeviceID], waiting: [DeviceID]) {
        self.kind = ReplyWord(kind)
        self.device = device
        self.confirmed = confirmed
        self.waiting = waiting
    }
}
