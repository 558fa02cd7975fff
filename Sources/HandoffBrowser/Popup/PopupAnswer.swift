package import HandoffControl
package import HandoffJSON
package import HandoffModel

/// A message to the popup.
package enum PopupAnswer: Sendable, Equatable {
    /// The state of this device. Repeated after each change.
    case status(ControlStatus, [ControlDevice])
    /// The offers of other devices that this one can open. Repeated after each change.
    case offers([OfferedActivity])
    /// The activities that are no longer on offer and can be reopened here. Repeated after each change.
    case recent([OfferedActivity], own: DeviceID)
    /// The open tabs of a device, or the reason why they are not available.
    case tabs(DeviceID, name: String, Result<[OpenTab], PopupFailure>)
    /// An activity was continued, or the reason why not.
    case went(ActivityID, DeviceID, PopupFailure?)
    /// The QR code of an address: rows from the top, with `1` for a dark module. Nil if the address
    /// is too long.
    case code(url: String, rows: [String]?)
    /// A page is offered to the device that it was sent to, or the reason why not.
    case sent(DeviceID, PopupFailure?)
    /// The device has accepted the page.
    case taken(DeviceID)
    /// An error.
    case trouble(PopupFailure)

    /// The message as sent over the pipe.
    package var json: JSONObject {
        switch self {
        case .status(let status, let devices):
            [
                "kind": "status",
                "name": .string(devices.first(where: \.isSelf)?.label ?? status.name),
                "account": .bool(status.account != nil),
                "advertising": .bool(status.advertising), "receiving": .bool(status.receiving),
                "holds": .array(status.holds.filter { $0.device == nil }.map(Self.restriction)),
                "warnings": .array(status.warnings.map { .string($0) }),
                "devices": .array(
                    devices.filter { !$0.isSelf }.map {
                        ["id": .string($0.id.hex), "name": .string($0.label ?? $0.name), "online": .bool($0.online)]
                    }),
            ]
        case .offers(let offers): ["kind": "offers", "offers": .array(offers.map { Self.offer($0) })]
        case .recent(let offers, let own):
            ["kind": "recent", "offers": .array(offers.map { Self.offer($0, own: own) })]
        case .tabs(let device, let name, let result):
            switch result {
            case .success(let tabs):
                [
                    "kind": "tabs", "device": .string(device.hex), "deviceName": .string(name),
                    "tabs": OpenTab.json(tabs),
                ]
            case .failure(let failure):
                [
                    "kind": "tabs", "device": .string(device.hex), "deviceName": .string(name),
                    "failure": .string(failure.message),
                ]
            }
        case .went(let activity, let device, let failure):
            [
                "kind": "went", "activity": .string(activity.hex), "device": .string(device.hex),
                "failure": failure.map { .string($0.message) } ?? .null,
                "newer": failure?.newer.map { .object($0.json) } ?? .null,
            ]
        case .code(let url, let rows):
            ["kind": "code", "url": .string(url), "rows": rows.map { .array($0.map { .string($0) }) } ?? .null]
        case .sent(let device, let failure):
            [
                "kind": "sent", "device": .string(device.hex), "failure": failure.map { .string($0.message) } ?? .null,
            ]
        case .taken(let device): ["kind": "taken", "device": .string(device.hex)]
        case .trouble(let failure): ["kind": "trouble", "message": .string(failure.message)]
        }
    }

    private static func offer(_ offer: OfferedActivity, own: DeviceID? = nil) -> JSON {
        [
            "activity": .string(offer.id.hex), "device": .string(offer.device.hex),
            "deviceName": .string(offer.deviceName),
            "title": .string(offer.title ?? ""), "isPage": .bool(offer.type == .browsingWeb), "age": .real(offer.age),
            "opens": .string(offer.opens.name ?? ""), "type": .string(offer.type.text),
            "kept": offer.kept.map { .object($0.json) } ?? .null, "streams": .bool(offer.streams),
            "exclusive": .bool(offer.exclusive == true),
            "isOwn": .bool(offer.device == own),
        ]
    }

    private static func restriction(_ restriction: ControlRestriction) -> JSON {
        [
            "direction": .string(restriction.direction.text), "byUser": .bool(restriction.author == .user),
            "until": restriction.until.map { .real($0) } ?? .null, "message": .string(restriction.message),
        ]
    }
}

/// The reason for a failure, for display.
package struct PopupFailure: Error, Sendable, Equatable {
    /// A sentence without a final period.
    let message: String
    /// The newer state, because of which an activity was not continued.
    let newer: NewerState?

    init(_ message: String, newer: NewerState? = nil) {
        self.message = message
        self.newer = newer
    }
}
