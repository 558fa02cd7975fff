package import HandoffJSON
package import HandoffModel

/// What the extension's popup asks for.
package enum PopupRequest: Sendable, Equatable {
    /// It was opened: tell it what there is, and what changes.
    case open
    /// It was closed: nothing is followed any more.
    case close
    /// Continue this offer of this device.
    case go(ActivityID, DeviceID)
    /// Ask the other devices for their open tabs.
    case tabs
    /// Offer nothing any more, for so many seconds, or until somebody wants it.
    case pause(seconds: Double?)
    /// Offer again.
    case resume
    /// The QR code of an address.
    case code(url: String)
    /// Send a page, at its place if it has told that, to one device.
    case send(FrontPage, PagePlace?, to: DeviceID)

    /// - Returns: nil for what is no such request.
    package init?(json: JSONObject) {
        switch json["kind"]?.string {
        case "popupOpen": self = .open
        case "popupClose": self = .close
        case "go":
            guard let activity = json["activity"]?.string.flatMap({ ActivityID($0) }),
                let device = json["device"]?.string.flatMap({ DeviceID($0) })
            else { return nil }
            self = .go(activity, device)
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
