import FuzzSupport
import HandoffBrowser
import HandoffHandlers
import HandoffJSON
import HandoffModel

/// Messages of a browser's extension, places on pages, and files that exclude pages or name the
/// default browser. The first byte selects the kind. For messages the second is the size of the
/// pieces.
///
/// Invariants: the size of the pieces does not matter, a place reads the same after it is written,
/// and every offer is a web page.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ pointer: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = Input(pointer, count)
    switch input.byte() % 4 {
    case 0:
        let size = max(1, Int(input.byte()))
        let bytes = input.rest
        let whole = messages(bytes, in: max(1, bytes.count))
        require(whole == messages(bytes, in: size), "the size of the pieces changes the messages")
        for message in whole { _ = ExtensionMessage(json: message) }
    case 1:
        guard let object = try? JSON(parsing: input.rest, limits: JSONLimits(bytes: 65_536)).object else { return 0 }
        _ = ExtensionMessage(json: object)
        if let place = PagePlace(json: object) { require(PagePlace(json: place.json) == place, "a place differs") }
        let list = OpenTab.list(object["tabs"])
        let sent = list.map { OpenTab(title: $0.title, url: $0.url) }
        require(OpenTab.list(OpenTab.json(list)) == sent, "a list of tabs reads differently")
    case 2:
        let bytes = input.rest
        let rules = PageRules(exclusions: PageExclusions(["browser.conf"]) { _ in bytes })
        let isOpen = rules.exclusions.problems.isEmpty
        require(
            isOpen || !rules.allows(FrontPage(url: "https://a.example/", title: "")), "offered in spite of a bad line")
        _ = DefaultBrowser.apps(in: bytes)
    default:
        guard let url = String(validating: input.rest, as: UTF8.self) else { return 0 }
        guard PageRules().allows(FrontPage(url: url, title: url)) else { return 0 }
        require(WebURL.isAcceptable(url), "an address that no device opens")
    }
    return 0
}

/// The messages in bytes that arrive in pieces of a size.
private func messages(_ bytes: [UInt8], in size: Int) -> [JSONObject] {
    var framer = NativeFramer()
    var found: [JSONObject] = []
    for start in stride(from: 0, to: bytes.count, by: size) {
        let part = Array(bytes[start..<min(start + size, bytes.count)])
        framer.received(part) { if case .success(let json) = $0 { found.append(json) } }
    }
    return found
}
