package import HandoffJSON
package import HandoffModel

/// The results of `Join`: how the new device gets on.
package enum JoinEvent: Sendable, Equatable {
    /// Looks for devices that invite.
    case looking
    /// Calls one, at host:port.
    case calling(address: String)
    /// The code is right; the user of that device has to agree.
    case waiting(PairingDevice)
    /// This device is a member of the account.
    case joined(AccountID, by: PairingDevice)

    /// Reads the results; throws `invalidParameter`.
    package init(json: JSONObject) throws(VarlinkError) {
        let fields = Fields(json)
        func device() throws(VarlinkError) -> PairingDevice { try PairingDevice(try fields.fields("device")) }
        switch try fields.text("event") {
        case "looking": self = .looking
        case "calling": self = .calling(address: try fields.text("address"))
        case "waiting": self = .waiting(try device())
        case "joined": self = .joined(try fields.id("account"), by: try device())
        default: throw fields.invalid("event")
        }
    }

    /// The results on the socket.
    package var json: JSONObject {
        var json: JSONObject = ["event": .string(name), "address": nil, "device": nil, "account": nil]
        switch self {
        case .looking: break
        case .calling(let address): json["address"] = .string(address)
        case .waiting(let device): json["device"] = .object(device.json)
        case .joined(let account, let device):
            json["device"] = .object(device.json)
            json["account"] = .string(account.hex)
        }
        return json
    }

    /// The field `event`.
    package var name: String {
        switch self {
        case .looking: "looking"
        case .calling: "calling"
        case .waiting: "waiting"
        case .joined: "joined"
        }
    }
}
