package import HandoffJSON
package import HandoffModel

/// `PairingWindow`: the data that a new device needs to reach an open window.
package struct PairingWindowDescription: ControlValue {
    /// Eight digits, or nil while only the link is accepted.
    package var code: String?
    /// The link with the long secret, as text.
    package var link: String
    /// The addresses of the inviting device: host:port, likeliest first.
    package var addresses: [String]
    /// The time for which the window stays open, in seconds.
    package var seconds: Int

    package init(code: String?, link: String, addresses: [String], seconds: Int) {
        self.code = code
        self.link = link
        self.addresses = addresses
        self.seconds = seconds
    }
}

/// `PairingDevice`: the peer in a pairing, which has proved that it knows the code.
package struct PairingDevice: ControlValue {
    /// Its id.
    package var id: DeviceID
    /// The name it gives itself; untrusted text.
    package var name: String

    package init(id: DeviceID, name: String) {
        self.id = id
        self.name = name
    }
}

/// The results of `Pair`: progress of the window on the inviting device.
package enum PairEvent: ControlMessage {
    /// The window is open.
    case opened(PairingWindowDescription)
    /// A device tried a wrong code. `guessesLeft` is the number of remaining guesses.
    case wrongCode(guessesLeft: Int)
    /// Too many wrong codes: only the link is still accepted.
    case codeEnded
    /// A device knows the code; the user must admit or decline it.
    case confirm(PairingDevice)
    /// The device that the user was asked about has disconnected; the window continues.
    case gone(PairingDevice)
    /// The account is being sent to the device.
    case joining(PairingDevice)
    /// The device is a member and has stored the account.
    case joined(PairingDevice)

    /// Decodes the results. Throws `invalidParameter` or `unknownEvent`.
    package init(json: JSONObject) throws(VarlinkError) {
        let fields = Fields(json)
        let event = try fields.text("event")
        switch event {
        case "opened": self = .opened(try fields.value("window"))
        case "wrongCode": self = .wrongCode(guessesLeft: try fields.value("guessesLeft"))
        case "codeEnded": self = .codeEnded
        case "confirm": self = .confirm(try fields.value("device"))
        case "gone": self = .gone(try fields.value("device"))
        case "joining": self = .joining(try fields.value("device"))
        case "joined": self = .joined(try fields.value("device"))
        default: throw .unknownEvent(event)
        }
    }

    /// The results on the socket.
    package var json: JSONObject {
        switch self {
        case .opened(let window): .event(name, ["window": window.field, "guessesLeft": nil, "device": nil])
        case .wrongCode(let left): .event(name, ["window": nil, "guessesLeft": left.json, "device": nil])
        case .codeEnded: .event(name, ["window": nil, "guessesLeft": nil, "device": nil])
        case .confirm(let device), .gone(let device), .joining(let device), .joined(let device):
            .event(name, ["window": nil, "guessesLeft": nil, "device": device.field])
        }
    }

    /// The field `event`.
    package var name: String {
        switch self {
        case .opened: "opened"
        case .wrongCode: "wrongCode"
        case .codeEnded: "codeEnded"
        case .confirm: "confirm"
        case .gone: "gone"
        case .joining: "joining"
        case .joined: "joined"
        }
    }
}

/// The parameters of `Join`: the code or link of the inviting device, and its address.
package struct JoinRequest: ControlRequest {
    /// The digits.
    package var code: String?
    /// The link, which also contains the addresses of the inviting device.
    package var link: String?
    /// The address of the inviting device as host:port. Without it and without a link, discovery is
    /// used.
    package var address: String?

    /// Creates a request with exactly one of code and link.
    package init(code: String? = nil, link: String? = nil, address: String? = nil) {
        self.code = code
        self.link = link
        self.address = address
    }

    /// Checks that exactly one of code and link is set.
    package func check() throws(VarlinkError) {
        if (code == nil) == (link == nil) { throw .invalidParameter(code == nil ? "code" : "link") }
    }
}

/// The results of `Join`: progress on the new device.
package enum JoinEvent: ControlMessage {
    /// Searching for inviting devices.
    case looking
    /// Calling one, at host:port.
    case calling(address: String)
    /// The code is right; the user of that device must agree.
    case waiting(PairingDevice)
    /// This device is a member of the account.
    case joined(AccountID, by: PairingDevice)

    /// Decodes the results. Throws `invalidParameter` or `unknownEvent`.
    package init(json: JSONObject) throws(VarlinkError) {
        let fields = Fields(json)
        let event = try fields.text("event")
        switch event {
        case "looking": self = .looking
        case "calling": self = .calling(address: try fields.value("address"))
        case "waiting": self = .waiting(try fields.value("device"))
        case "joined": self = .joined(try fields.value("account"), by: try fields.value("device"))
        default: throw .unknownEvent(event)
        }
    }

    /// The results on the socket.
    package var json: JSONObject {
        switch self {
        case .looking: .event(name, ["address": nil, "device": nil, "account": nil])
        case .calling(let address): .event(name, ["address": .string(address), "device": nil, "account": nil])
        case .waiting(let device): .event(name, ["address": nil, "device": device.field, "account": nil])
        case .joined(let account, let device):
            .event(name, ["address": nil, "device": device.field, "account": account.json])
        }
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
