package import HandoffJSON
import HandoffModel

/// A tab that is open in a browser, as other devices are told of it.
package struct OpenTab: Sendable, Equatable {
    /// The type of the activity by which open tabs are asked for. The list itself goes over a continuation stream: it is made
    /// when somebody asks, and never before.
    package static let activityType = "dev.handoff1.browser.tabs"
    /// The most tabs of a list.
    package static let most = 2000
    /// The most bytes of a list on a stream; its titles and addresses have less.
    package static let longestList = 1 << 20
    /// The most bytes of all titles and addresses of a list.
    private static let mostText = 700_000
    /// The most characters of a title.
    private static let longestTitle = 200

    /// Its title; empty for none.
    package var title: String
    /// Its address.
    package var url: String
    /// Its container, as `FrontPage` has it. It is not sent.
    package var container: String?

    package init(title: String, url: String, container: String? = nil) {
        self.title = String(title.prefix(Self.longestTitle))
        self.url = url
        self.container = container
    }

    /// Reads a list, of an extension or of another device: what no browser would open is left out.
    package static func list(_ json: JSON?) -> [OpenTab] {
        var list: [OpenTab] = []
        var room = mostText
        for element in (json?.array ?? []).prefix(most) {
            guard let object = element.object, let url = object["url"]?.string, WebURL.isAcceptable(url) else {
                continue
            }
            let tab = OpenTab(
                title: object["title"]?.string ?? "", url: url, container: object["container"]?.string)
            room -= tab.title.utf8.count + tab.url.utf8.count
            if room < 0 { break }
            list.append(tab)
        }
        return list
    }

    /// A list as it travels.
    package static func json(_ list: [OpenTab]) -> JSON {
        .array(list.map { .object(["title": .string($0.title), "url": .string($0.url)]) })
    }
}
