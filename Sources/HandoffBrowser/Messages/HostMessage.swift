import HandoffJSON
import HandoffModel

/// A message to the extension.
enum HostMessage: Sendable, Equatable {
    /// The daemon is connected and knows no page yet. Requests the page in front.
    case ready
    /// The daemon is unavailable or refuses to attach. The text is the reason, for display.
    case lost(String)
    /// True if the page in front is offered.
    case offered(Bool)
    /// Requests the scroll position of a page. Answered by `ExtensionMessage.place` within a
    /// second.
    case save(request: Int, url: String)
    /// Requests `ExtensionMessage.moved` for the next move on this page.
    case watch(url: String)
    /// The page was continued on another device: stop its media.
    case continued(url: String)
    /// Opens a page at a position. Answered by `ExtensionMessage.opened`.
    case open(ContinuationID, url: String, PagePlace?)
    /// Requests the open tabs. Answered by `ExtensionMessage.tabList`.
    case listTabs(request: Int)
    /// A message for the popup.
    case popup(PopupAnswer)

    /// The message as sent over the pipe.
    var json: JSONObject {
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
