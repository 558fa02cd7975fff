import HandoffClient
import HandoffControl
import HandoffModel

/// `apps`: the apps that continue activities here, and their switches.
package struct AppsCommand: Command {
    package static let specification = CommandSpecification(
        words: ["apps"], summary: "list the apps that continue activities here, and which are switched off",
        details: """
            Apps are known by their desktop entries (X-Handoff-ActivityTypes) or manifests, or since they are attached. An app
            is marked as unverified while the system does not confirm that the attached process is that app. Of several that
            continue the same the one that was here first opens it, until you choose another in ~/.config/handoff/defaults.
            """,
        example: "handoffctl apps")

    package init(validating arguments: ParsedArguments) throws(UsageError) {}

    package func run(in context: CommandContext) {
        context.request { client, then in
            client.listApps(then)
        } present: { apps in
            if context.json {
                for app in apps { context.console.line(app.json) }
            } else if apps.isEmpty {
                context.note("no app continues anything here: none declares a type, and none is attached")
            } else {
                for line in Self.table(apps).lines { context.console.line(line) }
                for app in apps { Self.tellConflicts(of: app, context) }
            }
        }
    }

    private static func tellConflicts(of app: ControlApp, _ context: CommandContext) {
        for (line, yield) in zip(ChoiceText.conflicts(app), app.yields) {
            context.note(line)
            context.note("  " + ChoiceText.remedy(app, yield))
        }
    }

    private static func table(_ apps: [ControlApp]) -> ColumnTable {
        var table = ColumnTable(["ID", "NAME", "STATE", "CONTINUES"])
        for app in apps {
            table.add([
                VisibleText.escape(app.id), VisibleText.escape(app.name), state(app),
                VisibleText.escape((app.types + app.domains).joined(separator: ", ")),
            ])
        }
        return table
    }

    private static func state(_ app: ControlApp) -> String {
        var words: [String] = []
        if !app.enabled { words.append("off") }
        if app.running { words.append(app.verified == true ? "running" : "running, unverified") }
        return words.isEmpty ? "installed" : words.joined(separator: ", ")
    }
}
