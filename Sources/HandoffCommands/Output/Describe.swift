import HandoffControl
import HandoffJSON
import HandoffModel
import LoopIO

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

    /// Returns exclusive editing, and why a copy is listed, to be appended to the name of the device.
    static func state(_ activity: OfferedActivity) -> String {
        (activity.exclusive == true ? ", in use there" : "") + (activity.kept.map { ", \(kept($0))" } ?? "")
    }

    /// Describes why a copy of an activity is listed.
    static func kept(_ kept: ControlKept) -> String {
        switch kept.state.known {
        case .asleep:
            kept.since.map { "asleep since \(time($0))" } ?? "asleep"
        case .offline, nil: "offline"
        case .ended: "closed there"
        }
    }

    /// Returns a time in seconds since 1970, with the date if it is not today.
    static func time(_ unixSeconds: Double) -> String {
        LocalTime.short(unixSeconds, now: SystemWallClock().secondsSince1970)
    }

    /// Describes why a copy of an activity is listed, with the time of its state and with what only its
    /// device could send.
    static func keptAsOf(_ activity: OfferedActivity, _ kept: ControlKept) -> String {
        let state =
            kept.state == .ended ? "closed there at \(time(kept.asOf))" : "\(Self.kept(kept)), as of \(time(kept.asOf))"
        guard activity.streams else { return state }
        return state
            + (kept.state == .ended
                ? ", files and streams no longer available" : ", files and streams not available until it is back")
    }

    /// Describes the copy of an activity, for the user who continues it.
    static func copy(_ activity: ContinuedActivity, _ kept: ControlKept) -> String {
        "this is the state as of \(time(kept.asOf)): \(VisibleText.escape(activity.origin.deviceName)) is "
            + (kept.state == .ended ? "no longer offering it" : Self.kept(kept))
            + (activity.streams ? "; its files and streams are not available until it is back" : "")
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
