import HandoffClient
import HandoffControl
import HandoffJSON
import HandoffModel

/// Formats a continued activity with its payload.
enum ContinuedText {
    /// Returns the fields, then the payload, as complete lines. Of a sent text, returns only the text.
    static func text(_ activity: ContinuedActivity) -> String {
        if activity.type == .text, let text = activity.userInfo["text"]?.string {
            return lines(text)
        }
        var fields: [(label: String, value: String)] = []
        func add(_ label: String, _ value: String?) {
            if let value, !value.isEmpty { fields.append((label, VisibleText.escape(value))) }
        }
        add("type", activity.type.text)
        add("title", activity.title)
        add("from", "\(activity.origin.deviceName) (\(activity.origin.deviceKind.name))")
        add("kept", activity.kept.map { Describe.copy(activity, $0) })
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
        // Already escaped, and intentionally several lines.
        if !activity.userInfo.isEmpty { fields.append(("userInfo", PrettyJSON.text(.object(activity.userInfo)))) }
        return ColumnTable.fields(fields)
    }

    /// Returns a text from another device as complete lines.
    static func lines(_ text: String) -> String {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        return lines.map { VisibleText.escape(String($0)) + "\n" }.joined()
    }
}

/// Reports on a terminal which device has not replied yet.
enum ContinueProgress {
    /// Queries the daemon on a separate connection, because the continuation occupies the other
    /// one.
    static func show(_ request: ContinueRequest, _ context: CommandContext) {
        guard let client = try? ControlClient(path: context.socketPath, loop: context.loop) else {
            return report("the other device", context)
        }
        context.keep(client)
        client.listActivities(here: false) { result in
            let offered = (try? result.get()) ?? []
            // A wrong guess of the daemon's choice only shows a wrong name.
            let name = offered.first(where: request.fits)?.deviceName
            report(name.map(VisibleText.escape) ?? "the other device", context)
        }
    }

    private static func report(_ name: String, _ context: CommandContext) {
        context.note("waiting for \(name)…")
    }
}
