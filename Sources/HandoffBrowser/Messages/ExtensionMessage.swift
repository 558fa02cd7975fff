package import HandoffJSON
package import HandoffModel

/// A message from the extension. `WebExtension/host.js` has the same names of kinds and fields.
package enum ExtensionMessage: Sendable, Equatable {
    /// The page in front. Repeated when its address or title changes.
    case page(FrontPage)
    /// No page is in front, or one that is private: in a private window, or a page of the browser
    /// itself.
    case noPage
    /// The page in front was scrolled, for the first time since its position was requested or since
    /// `HostMessage.watch`.
    case moved
    /// The user has returned from another program to the window of the page in front.
    case returned
    /// The reply to `HostMessage.save`. No position if the page has none, or if another page is in
    /// front.
    case place(request: Int, PagePlace?)
    /// The reply to `HostMessage.open`: true if there is a tab for it.
    case opened(ContinuationID, Bool)
    /// The reply to `HostMessage.listTabs`: the tabs of all windows that are not private.
    case tabList(request: Int, [OpenTab])
    /// A request of the popup.
    case popup(PopupRequest)

    /// - Returns: Nil for an unknown message, for example from a newer extension.
    package init?(json: JSONObject) {
        switch json["kind"]?.string {
        case "page":
            guard let url = json["url"]?.string else { return nil }
            self = .page(
                FrontPage(url: url, title: json["title"]?.string ?? "", container: json["container"]?.string))
        case "noPage": self = .noPage
        case "moved": self = .moved
        case "returned": self = .returned
        case "place":
            guard let request = json["request"]?.integer.flatMap({ Int(exactly: $0) }) else { return nil }
            self = .place(request: request, json["place"]?.object.flatMap(PagePlace.init(json:)))
        case "opened":
            guard let continuation = json["continuation"]?.string.flatMap({ ContinuationID($0) }),
                let handled = json["handled"]?.bool
            else { return nil }
            self = .opened(continuation, handled)
        case "tabList":
            guard let request = json["request"]?.integer.flatMap({ Int(exactly: $0) }) else { return nil }
            self = .tabList(request: request, OpenTab.list(json["tabs"]))
        default:
            guard let request = PopupRequest(json: json) else { return nil }
            self = .popup(request)
        }
    }
}
