package import HandoffJSON
package import HandoffModel

/// What the extension is told.
package enum HostMessage: Sendable, Equatable {
    /// The daemon is there, and knows of no page yet: say which is in front.
    case ready
    /// The daemon is not there, or refuses us: why, for people.
    case lost(String)
    /// Whether the page in front is on offer.
    case offered(Bool)
    /// Say where this page is scrolled; answered by `ExtensionMessage.place`, within a second.
    case save(request: Int, url: String)
    /// Report the next move on this page by `ExtensionMessage.moved`.
    case watch(url: String)
    /// This page was continued on another device: what plays in it is to stop.
    case continued(url: String)
    /// Open a page at a place; answered by `ExtensionMessage.opened`.
    case open(ContinuationID, url: String, PagePlace?)
    /// Say which tabs are open; answered by `ExtensionMessage.tabList`.
    case listTabs(request: Int)
    /// For the popup.
    case popup(PopupAnswer)

    /// The message on the pipe.
    package var json: JSONObject {
        switch self {
        case .ready: ["kind": "ready"]
        case .lost(let why): ["kind": "lost", "message": .string(why)]
        case .offered(let isOffered): ["kind": "offered", "offered": .bool(isOffered)]
        case .save(let request, let url):
            ["kind": "save", "request": .integer(Int64(request)), "url": .string(url)]
        case .watch(let url): ["kind": "watch", "url": .string(url)]
        case .continued(let url): ["kind": "continued", "url": .string(url)]
        case .listTabs(let request): ["kind": "listTabs", "request": .integer(Int64(request))]
        case .popup(let answer): answer.json
        case .open(let continuation, let url, let place):
            [
                "kind": "open", "continuation": .string(continuation.hex), "url": .string(url),
                "place": place.map { .object($0.json) } ?? .null,
            ]
        }
    }
}
