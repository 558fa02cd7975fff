package import HandoffJSON

/// The results of `Pair`: how the window on the inviting device goes.
package enum PairEvent: Sendable, Equatable {
    /// The window is open.
    case opened(PairingWindowDescription)
    /// Somebody tried a wrong code; so many guesses are left.
    case wrongCode(guessesLeft: Int)
    /// Too many wrong codes: only the link opens any more.
    case codeEnded
    /// A device knows the code: shall it be let in?
    case confirm(PairingDevice)
    /// The device that was asked about went away; the window goes on.
    case gone(PairingDevice)
    /// The account is handed over to the device.
    case joining(PairingDevice)
    /// The device is a member, and has stored the account.
    case joined(PairingDevice)

    /// Reads the results; throws `invalidParameter`.
    package init(json: JSONObject) throws(VarlinkError) {
        let fields = Fields(json)
        func device() throws(VarlinkError) -> PairingDevice { try PairingDevice(try fields.fields("device")) }
        switch try fields.text("event") {
        case "opened": self = .opened(try PairingWindowDescription(try fields.fields("window")))
        case "wrongCode": self = .wrongCode(guessesLeft: try fields.integer("guessesLeft"))
        case "codeEnded": self = .codeEnded
        case "confirm": self = .confirm(try device())
        case "gone": self = .gone(try device())
        case "joining": self = .joining(try device())
        case "joined": self = .joined(try device())
        default: throw fields.invalid("event")
        }
    }

    /// The results on the socket.
    package var json: JSONObject {
        var json: JSONObject = ["event": .string(name), "window": nil, "guessesLeft": nil, "device": nil]
        switch self {
        case .opened(let window): json["window"] = .object(window.json)
        case .wrongCode(let guessesLeft): json["guessesLeft"] = .integer(Int64(guessesLeft))
        case .codeEnded: break
        case .confirm(let device), .gone(let device), .joining(let device), .joined(let device):
            json["device"] = .object(device.json)
        }
        return json
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
