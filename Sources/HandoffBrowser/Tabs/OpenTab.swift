package import HandoffJSON
import HandoffModel

/// An open browser tab, as sent to other devices.
package struct OpenTab: Sendable, Equatable {
    /// The type of the activity that offers open tabs. The list is sent over a continuation stream.
    /// It is created only on request.
    static let activityType = "dev.handoff1.browser.tabs"
    /// The maximum number of tabs in a list.
    static let maxTabs = 2000
    /// The maximum size of a list on a stream, in bytes; its titles and addresses are smaller.
    static let maxList = 1 << 20
    /// The maximum size of all titles and addresses of a list, in bytes.
    private static let maxText = 700_000
    /// The maximum length of a title, in characters.
    private static let maxTitle = 200

    /// The title; empty if there is none.
    package var title: String
    /// The address.
    package var url: String
    /// The container, as in `FrontPage`. Not sent to other devices.
    var container: String?

    package init(title: String, url: String, container: String? = nil) {
        self.title = String(title.prefix(Self.maxTitle))
        self.url = url
        self.container = container
    }

    /// Reads a list from the extension or another device. Skips addresses that browsers would not
    /// open.
    package static func list(_ json: JSON?) -> [OpenTab] {
        var list: [OpenTab] = []
        var room = maxText
        for element in (json?.array ?? []).prefix(maxTabs) {
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

    /// The list as sent to other devices.
    package static func json(_ list: [OpenTab]) -> JSON {
        .array(list.map { .object(["title": .string($0.title), "url": .string($0.url)]) })
    }
}
