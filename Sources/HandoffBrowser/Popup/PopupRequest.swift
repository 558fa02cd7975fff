import HandoffJSON
package import HandoffModel

/// A request of the extension's popup.
package enum PopupRequest: Sendable, Equatable {
    /// The popup was opened. Send it the state and all changes.
    case open
    /// The popup was closed. Stop following.
    case close
    /// Continue this offer of this device, also if a newer state is known.
    case go(ActivityID, DeviceID, mayBeOlder: Bool = false)
    /// Request the open tabs of the other devices.
    case tabs
    /// Pause offers for this number of seconds, or until resumed.
    case pause(seconds: Double?)
    /// Resume offers.
    case resume
    /// Create the QR code of an address.
    case code(url: String)
    /// Send a page to one device, with its position if known.
    case send(FrontPage, PagePlace?, to: DeviceID)

    /// - Returns: Nil for an unknown request.
    init?(json: JSONObject) {
        switch json["kind"]?.string {
        case "popupOpen": self = .open
        case "popupClose": self = .close
        case "go":
            guard let activity = json["activity"]?.string.flatMap({ ActivityID($0) }),
                let device = json["device"]?.string.flatMap({ DeviceID($0) })
            else { return nil }
            self = .go(activity, device, mayBeOlder: json["older"]?.bool == true)
        case "tabs": self = .tabs
        case "pause":
            let seconds = json["seconds"]?.number
            if let seconds, !(1...31_536_000).contains(seconds) { return nil }
            self = .pause(seconds: seconds)
        case "resume": self = .resume
        case "code":
            guard let url = json["url"]?.string else { return nil }
            self = .code(url: url)
        case "send":
            guard let url = json["url"]?.string, let device = json["device"]?.string.flatMap({ DeviceID($0) }) else {
                return nil
            }
            let page = FrontPage(url: url, title: json["title"]?.string ?? "", container: json["container"]?.string)
            self = .send(page, json["place"]?.object.flatMap(PagePlace.init(json:)), to: device)
        default: return nil
        }
    }
}
