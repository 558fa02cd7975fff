package import HandoffJSON
package import HandoffModel

/// What the extension says. The names of kinds and fields stand in `WebExtension/host.js`, too.
package enum ExtensionMessage: Sendable, Equatable {
    /// This page is in front now; said again when its address or title changes.
    case page(FrontPage)
    /// No page is in front, or one that is nobody's business: of a private window, of the browser itself.
    case noPage
    /// The page in front was scrolled for the first time since it was asked for its place, or since `HostMessage.watch`.
    case moved
    /// The user has returned from another program to the window of the page in front.
    case returned
    /// The answer to `HostMessage.save`; without a place where the page has none to tell, or is another by now.
    case place(request: Int, PagePlace?)
    /// The answer to `HostMessage.open`: whether there is a tab for it.
    case opened(ContinuationID, Bool)
    /// The answer to `HostMessage.listTabs`: the tabs of all windows that are not private.
    case tabList(request: Int, [OpenTab])
    /// The popup asks for something.
    case popup(PopupRequest)

    /// - Returns: nil for what is no such message: a newer extension's, or nobody's.
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
