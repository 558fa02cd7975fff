import HandoffClient
import HandoffControl
import HandoffJSON
import HandoffModel

/// A continued activity with its payload, for people.
enum ContinuedText {
    /// Readable fields, then the payload; whole lines.
    static func text(_ activity: ContinuedActivity) -> String {
        var fields: [(label: String, value: String)] = []
        func add(_ label: String, _ value: String?) {
            if let value, !value.isEmpty { fields.append((label, VisibleText.escape(value))) }
        }
        add("type", activity.type.text)
        add("title", activity.title)
        add("from", "\(activity.origin.deviceName) (\(activity.origin.deviceKind.name))")
        add(
            "app",
            activity.origin.app.map { app in
                activity.origin.appVersion.map { "\(app) \($0)" } ?? app
            })
        add("web page", activity.webpageURL)
        add("team", activity.team)
        add("required", activity.requiredUserInfoKeys.joined(separator: ", "))
        add("content", activity.targetContentIdentifier)
        if activity.streams { add("streams", "supported") }
        // Escaped already, and meant to have several lines.
        if !activity.userInfo.isEmpty { fields.append(("userInfo", PrettyJSON.text(.object(activity.userInfo)))) }
        return ColumnTable.fields(fields)
    }
}

/// Tells a person who waits at a terminal which device is waited for.
enum ContinueProgress {
    /// Asks on a connection of its own, since the other one is occupied by the continuation.
    static func show(_ request: ContinueRequest, _ context: CommandContext) {
        guard let client = try? ControlClient(path: context.socketPath, loop: context.loop) else {
            return say("the other device", context)
        }
        context.keep(client)
        client.listActivities(here: false) { result in
            let offered = (try? result.get()) ?? []
            // A wrong guess of what the daemon has chosen costs no more than a wrong name.
            let name = offered.first { offer in
                request.fits(offer) && (request.activity.map(offer.id.hex.hasPrefix) ?? true)
            }?.deviceName
            say(name.map(VisibleText.escape) ?? "the other device", context)
        }
    }

    private static func say(_ name: String, _ context: CommandContext) {
        context.note("waiting for \(name)…")
    }
}
