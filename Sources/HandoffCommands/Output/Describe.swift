import HandoffControl
import HandoffJSON
import HandoffModel

/// Output fragments shared by several commands: fields for `--json`, and phrases.
enum Describe {
    /// Returns the title, or the type if there is none; safe to print.
    static func title(_ title: String?, type: ActivityType) -> String {
        guard let title, !title.isEmpty else { return type.text }
        return "\u{201C}\(VisibleText.escape(title))\u{201D}"
    }

    /// Returns the type of an activity, in words for the common types.
    static func type(_ type: ActivityType) -> String {
        switch type {
        case .browsingWeb: "web page"
        case .content: "file"
        case .clipboard: "clipboard"
        default: type.text
        }
    }

    /// Describes what would open an activity, or why nothing would.
    static func opens(_ opens: ControlOpens) -> String {
        switch opens.kind.known {
        case .app: VisibleText.escape(opens.name ?? "an app")
        case .web: opens.name.map { "web (\(VisibleText.escape($0)))" } ?? "web"
        case .nothing, nil: opens.reason.map { "nothing: \(VisibleText.escape($0))" } ?? "nothing"
        }
    }

    /// Describes what would open an activity, as the end of a sentence.
    static func opensPhrase(_ opens: ControlOpens) -> String {
        switch opens.kind.known {
        case .app: "opens in \(Self.opens(opens))"
        case .web: "opens on the web"
        case .nothing, nil: opens.reason.map { "does not open here: \(VisibleText.escape($0))" } ?? "does not open here"
        }
    }

    /// Describes what opened an activity, as the end of a sentence. Names a page by its host,
    /// because its title can be any text.
    /// - Parameter page: the URL of its web page.
    static func openedPhrase(_ opens: ControlOpens, page: String?) -> String {
        switch opens.kind.known {
        case .app: "opened in \(Self.opens(opens))"
        case .web:
            page.flatMap(WebURL.shownHost).map { "opened on the web, at \(VisibleText.escape($0))" }
                ?? "opened on the web"
        case .nothing, nil: "nothing opened it"
        }
    }

    /// Returns an event with further fields, as printed with `--json`.
    static func event(_ name: String, _ fields: JSONObject) -> JSONObject {
        var object: JSONObject = ["event": .string(name)]
        for field in fields where field.key != "event" { object[field.key] = field.value }
        return object
    }

    /// Pads the first word of an event line, so that the following texts are aligned.
    static func word(_ word: String, width: Int) -> String {
        word + String(repeating: " ", count: max(0, width - word.count))
    }
}
