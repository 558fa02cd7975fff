import HandoffControl
import HandoffJSON
import HandoffModel

/// Pieces of output that several commands share: fields for `--json`, phrases for people.
enum Describe {
    /// The title if there is one, else the type; safe to print.
    static func title(_ title: String?, type: ActivityType) -> String {
        guard let title, !title.isEmpty else { return type.text }
        return "\u{201C}\(VisibleText.escape(title))\u{201D}"
    }

    /// The type of an activity: in words where everybody has it.
    static func type(_ type: ActivityType) -> String {
        switch type {
        case .browsingWeb: "web page"
        case .content: "file"
        default: type.text
        }
    }

    /// What would open an activity, or why nothing would.
    static func opens(_ opens: ControlOpens) -> String {
        switch opens.kind {
        case .app: VisibleText.escape(opens.name ?? "an app")
        case .web: opens.name.map { "web (\(VisibleText.escape($0)))" } ?? "web"
        case .nothing: opens.reason.map { "nothing: \(VisibleText.escape($0))" } ?? "nothing"
        }
    }

    /// The same as a phrase that ends a sentence.
    static func opensPhrase(_ opens: ControlOpens) -> String {
        switch opens.kind {
        case .app: "opens in \(Self.opens(opens))"
        case .web: "opens on the web"
        case .nothing: opens.reason.map { "does not open here: \(VisibleText.escape($0))" } ?? "does not open here"
        }
    }

    /// What has opened an activity, as a phrase that ends a sentence. A page is named by its host, since its title can be any text.
    /// - Parameter page: the address of its web page.
    static func openedPhrase(_ opens: ControlOpens, page: String?) -> String {
        switch opens.kind {
        case .app: "opened in \(Self.opens(opens))"
        case .web:
            page.flatMap(WebURL.shownHost).map { "opened on the web, at \(VisibleText.escape($0))" }
                ?? "opened on the web"
        case .nothing: "nothing opened it"
        }
    }

    /// An event with further fields, as `--json` prints it.
    static func event(_ name: String, _ fields: JSONObject) -> JSONObject {
        var object: JSONObject = ["event": .string(name)]
        for field in fields where field.key != "event" { object[field.key] = field.value }
        return object
    }

    /// A word that begins a line of events, padded so that what follows is aligned.
    static func word(_ word: String, width: Int) -> String {
        word + String(repeating: " ", count: max(0, width - word.count))
    }
}
