import HandoffClient
import HandoffControl
import HandoffJSON
import HandoffModel

/// `apps`: the apps that continue activities here, and their switches.
package struct AppsCommand: Command {
    package static let specification = CommandSpecification(
        words: ["apps"], summary: "list the apps that continue activities here, and which are switched off",
        details: """
            Apps are known by their desktop entries (X-Handoff-ActivityTypes) or manifests, or because they are
            connected to the daemon. An app is marked as unverified while the system does not confirm that the connected
            process is that app. If several continue the same type, the one that was installed first does, until you
            choose another one in ~/.config/handoff/defaults, by a line TYPE=APP-ID.
            """,
        example: "handoffctl apps")

    package init(validating arguments: ParsedArguments) throws(UsageError) {}

    package func run(in context: CommandContext) {
        context.request { client, then in
            client.listApps(then)
        } present: { apps in
            if context.json {
                context.console.lines(apps.map(\.json))
            } else if apps.isEmpty {
                context.note("no app continues anything here: none declares a type, and none is attached")
            } else {
                context.console.write(Self.table(apps))
                for app in apps { Self.tellConflicts(of: app, context) }
            }
        }
    }

    private static func tellConflicts(of app: ControlApp, _ context: CommandContext) {
        for (line, yield) in zip(ChoiceText.conflicts(app), app.yields ?? []) {
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
        if !app.notified { words.append("muted") }
        if app.running { words.append(app.verified == true ? "running" : "running, unverified") }
        return words.isEmpty ? "installed" : words.joined(separator: ", ")
    }
}

/// `app enable`: let an app publish and continue again.
package struct AppEnableCommand: Command {
    package static let specification = CommandSpecification(
        words: ["app", "enable"], operands: "ID", operandCount: 1...1,
        summary: "let an app publish and continue again",
        details: "An ID may be shortened to any beginning that fits only one app; handoffctl apps lists them.",
        example: "handoffctl app enable org.example.Editor")

    private let change: AppChange

    package init(validating arguments: ParsedArguments) throws(UsageError) {
        change = try AppChange(.enable, arguments, command: Self.specification.name)
    }

    package func run(in context: CommandContext) { change.run(in: context) }
}

/// `app disable`: keep an app from publishing and continuing, until it is enabled again.
package struct AppDisableCommand: Command {
    package static let specification = CommandSpecification(
        words: ["app", "disable"], operands: "ID", operandCount: 1...1,
        summary: "keep an app from publishing and continuing, until it is enabled again",
        details: "An ID may be shortened to any beginning that fits only one app; handoffctl apps lists them.",
        example: "handoffctl app disable org.example.Editor")

    private let change: AppChange

    package init(validating arguments: ParsedArguments) throws(UsageError) {
        change = try AppChange(.disable, arguments, command: Self.specification.name)
    }

    package func run(in context: CommandContext) { change.run(in: context) }
}

/// `app mute`: do not notify of offers that an app would open.
package struct AppMuteCommand: Command {
    package static let specification = CommandSpecification(
        words: ["app", "mute"], operands: "ID", operandCount: 1...1,
        summary: "do not notify of offers that an app would open",
        details: "It stays in handoffctl list. An ID may be shortened to any beginning that fits only one app.",
        example: "handoffctl app mute org.example.Editor")

    private let change: AppChange

    package init(validating arguments: ParsedArguments) throws(UsageError) {
        change = try AppChange(.mute, arguments, command: Self.specification.name)
    }

    package func run(in context: CommandContext) { change.run(in: context) }
}

/// `app unmute`: notify again of offers that an app would open.
package struct AppUnmuteCommand: Command {
    package static let specification = CommandSpecification(
        words: ["app", "unmute"], operands: "ID", operandCount: 1...1,
        summary: "notify again of offers that an app would open",
        details: "An ID may be shortened to any beginning that fits only one app; handoffctl apps lists them.",
        example: "handoffctl app unmute org.example.Editor")

    private let change: AppChange

    package init(validating arguments: ParsedArguments) throws(UsageError) {
        change = try AppChange(.unmute, arguments, command: Self.specification.name)
    }

    package func run(in context: CommandContext) { change.run(in: context) }
}

/// What the commands do that switch something of one app.
private struct AppChange {
    /// What is switched; the raw value is the word for it when it is done.
    enum Kind: String {
        case enable = "enabled"
        case disable = "disabled"
        case mute = "muted"
        case unmute = "unmuted"
    }

    let app: String
    let kind: Kind

    init(_ kind: Kind, _ arguments: ParsedArguments, command: String) throws(UsageError) {
        app = try ArgumentValue.appID(arguments.operands, command: command)
        self.kind = kind
    }

    func run(in context: CommandContext) {
        context.request { client, then in
            switch kind {
            case .enable, .disable: client.setApp(app, enabled: kind == .enable, then)
            case .mute, .unmute: client.setApp(app, notified: kind == .unmute, then)
            }
        } present: { app in
            context.show([kind.rawValue: .string(app)], or: "\(kind.rawValue) \(app)")
        }
    }
}

/// What people are told of several apps that claim the same.
enum ChoiceText {
    /// What an app claims and another one opens; a line each.
    static func conflicts(_ app: ControlApp) -> [String] {
        (app.yields ?? []).map { yield in
            "\(VisibleText.escape(yield.claim)) opens in \(VisibleText.escape(yield.to)), which was here before "
                + VisibleText.escape(app.id)
        }
    }

    /// How the user chooses: no command to be copied, since a type may hold anything that a shell understands.
    static func remedy(_ app: ControlApp, _ yield: ControlApp.Yield) -> String {
        let type = app.types.contains(yield.claim) ? yield.claim : ActivityType.browsingWeb.text
        return "choose by a line in the file ~/.config/handoff/defaults, which holds at once: "
            + "\(VisibleText.escape(type))=\(VisibleText.escape(app.id)) or "
            + "\(VisibleText.escape(type))=\(VisibleText.escape(yield.to))"
    }
}
