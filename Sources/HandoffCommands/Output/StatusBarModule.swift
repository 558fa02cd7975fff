package import HandoffControl
package import HandoffJSON
import HandoffModel

/// The offers as a custom module of a status bar shows them: their number, and a line for each in the tooltip.
package struct StatusBarModule {
    /// The maximum number of offers in the tooltip, which cannot be scrolled.
    private static let maxLines = 12
    /// The maximum width of a title or name in the tooltip, in columns.
    private static let maxWidth = 60

    /// Newest first.
    private var offers: [OfferedActivity] = []
    private var isReady = false
    private var shown: JSONObject?

    package init() {}

    /// Applies an event.
    /// - Returns: the object to print; nil before all initial offers have arrived, or if nothing visible has changed.
    package mutating func apply(_ event: WatchEvent) -> JSONObject? {
        switch event {
        case .added(let offer) where offer.type == .clipboard: break  // Nothing opens it, and each copy adds one.
        case .added(let offer): offers.insert(offer, at: isReady ? 0 : offers.endIndex)
        case .changed(let offer):
            if let index = index(of: offer) { offers[index] = offer }
        case .removed(let offer):
            if let index = index(of: offer) { offers.remove(at: index) }
        case .ready: isReady = true
        }
        return isReady ? update() : nil
    }

    /// Removes all offers when the daemon stops.
    /// - Returns: the object to print; nil if nothing visible has changed.
    package mutating func clear() -> JSONObject? {
        offers = []
        return update()
    }

    private func index(of offer: OfferedActivity) -> Int? {
        offers.firstIndex { $0.id == offer.id && $0.device == offer.device }
    }

    private mutating func update() -> JSONObject? {
        let state = JSON.string(offers.isEmpty ? "none" : "offers")
        var lines = offers.prefix(Self.maxLines).map(Self.line)
        if offers.count > lines.count { lines.append("and \(offers.count - lines.count) more") }
        let object: JSONObject = [
            "text": .string(offers.isEmpty ? "" : "\(offers.count)"),
            "tooltip": .string(lines.joined(separator: "\n")),
            "class": state, "alt": state,
        ]
        defer { shown = object }
        return object == shown ? nil : object
    }

    private static func line(_ offer: OfferedActivity) -> String {
        let title = offer.title.flatMap { $0.isEmpty ? nil : $0 } ?? Describe.type(offer.type)
        return "\(markup(title)) from \(markup(offer.deviceName))"
            + (offer.kept.map { ", \(Describe.keptAsOf(offer, $0))" } ?? "")
    }

    /// Returns text of another device as Pango markup, with its special characters escaped.
    private static func markup(_ text: String) -> String {
        var result = ""
        for character in DisplayWidth.truncate(VisibleText.escape(text), to: maxWidth) {
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            default: result.append(character)
            }
        }
        return result
    }
}
