package import HandoffControl
package import HandoffJSON
package import HandoffModel

/// What the popup is told.
package enum PopupAnswer: Sendable, Equatable {
    /// How this device stands; said again after each change.
    case status(ControlStatus, [ControlDevice])
    /// What the other devices offer and this one can open; said again after each change.
    case offers([ControlActivity])
    /// The open tabs of a device, or why they did not come.
    case tabs(DeviceID, name: String, Result<[OpenTab], PopupFailure>)
    /// Something was continued, or why not.
    case went(ActivityID, PopupFailure?)
    /// The QR code of an address, each row from the top with a `1` for a dark module; nil where no code can hold it.
    case code(url: String, rows: [String]?)
    /// A page is on offer to the device that it was sent to, or why not.
    case sent(DeviceID, PopupFailure?)
    /// That device has taken the page.
    case taken(DeviceID)
    /// What cannot be told, and why.
    case trouble(PopupFailure)

    /// The message on the pipe.
    package var json: JSONObject {
        switch self {
        case .status(let status, let devices):
            [
                "kind": "status",
                "name": .string(devices.first(where: \.isSelf)?.label ?? status.name),
                "account": .bool(status.account != nil),
                "advertising": .bool(status.advertising), "receiving": .bool(status.receiving),
                "holds": .array(status.holds.filter { $0.device == nil }.map(Self.hold)),
                "warnings": .array(status.warnings.map { .string($0) }),
                "devices": .array(
                    devices.filter { !$0.isSelf }.map {
                        ["id": .string($0.id.hex), "name": .string($0.label ?? $0.name), "online": .bool($0.online)]
                    }),
            ]
        case .offers(let offers): ["kind": "offers", "offers": .array(offers.map(Self.offer))]
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
        case .went(let activity, let failure):
            [
                "kind": "went", "activity": .string(activity.hex),
                "failure": failure.map { .string($0.message) } ?? .null,
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

    private static func offer(_ offer: ControlActivity) -> JSON {
        [
            "activity": .string(offer.id.hex), "device": .string(offer.device.hex),
            "deviceName": .string(offer.deviceName),
            "title": .string(offer.title ?? ""), "isPage": .bool(offer.type == .browsingWeb), "age": .real(offer.age),
            "opens": .string(offer.opens.name ?? ""), "type": .string(offer.type.text),
        ]
    }

    private static func hold(_ hold: ControlRestriction) -> JSON {
        [
            "direction": .string(hold.direction.rawValue), "byUser": .bool(hold.author == .user),
            "until": hold.until.map { .real($0) } ?? .null, "message": .string(hold.message),
        ]
    }
}

/// Why something did not come about, in words for people.
package struct PopupFailure: Error, Sendable, Equatable {
    /// A sentence without its end.
    package let message: String

    package init(_ message: String) {
        self.message = message
    }
}
