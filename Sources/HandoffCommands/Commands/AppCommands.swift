import HandoffClient
import HandoffControl
import HandoffJSON
import HandoffModel
package import LoopIO

/// `apps`: lists the apps that continue activities here, and their settings.
package struct AppsCommand: Command {
    package static let specification = CommandSpecification(
        words: ["apps"], summary: "list the apps that continue activities here, and those that are disabled",
        details: """
            Apps are found by their desktop entries (X-Handoff-ActivityTypes) or manifests, or because they are
            connected to the daemon. Each is shown with its id, its name, whether it runs, and the types that it
            continues. An app is marked as unverified unless the system confirms that the connected process is that
            app. If several apps claim the same type, the one that claimed it first opens it. Each such conflict is
            reported, with the line TYPE=APP-ID for ~/.config/handoff/defaults that selects an app.

            With --json, a line for each: id, name, source (desktop, manifest, attached, none), file, types, team,
            domains, running, verified (null unless it runs), enabled, notified, kept, yields (its claims that
            another, earlier app opens, each as claim and to).
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
                context.note("no app continues activities here: none declares a type, and none is connected")
            } else {
                context.console.write(Self.table(apps))
                for app in apps { Self.noteConflicts(of: app, context) }
            }
        }
    }

    private static func noteConflicts(of app: ControlApp, _ context: CommandContext) {
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
        if app.kept == false { words.append("not kept") }
        if app.running { words.append(app.verified == true ? "running" : "running, unverified") }
        return words.isEmpty ? "installed" : words.joined(separator: ", ")
    }
}

/// `app enable`: allows an app to publish and continue activities again.
package struct AppEnableCommand: Command {
    package static let specification = CommandSpecification(
        words: ["app", "enable"], operands: [.one(.app)],
        summary: "allow an app to publish and continue activities again",
        details: """
            ID can be shortened to any prefix that matches only one app. handoffctl apps lists the ids.

            With --json: enabled (the whole id).
            """,
        example: "handoffctl app enable org.example.Editor")

    private let change: AppChange

    package init(validating arguments: ParsedArguments) throws(UsageError) {
        change = try AppChange(.enable, arguments, command: Self.specification.name)
    }

    package func run(in context: CommandContext) { change.run(in: context) }
}

/// `app disable`: stops an app from publishing and continuing activities until it is enabled again.
package struct AppDisableCommand: Command {
    package static let specification = CommandSpecification(
        words: ["app", "disable"], operands: [.one(.app)],
        summary: "stop an app from publishing and continuing activities until it is enabled again",
        details: """
            A disabled app continues nothing, and its activities are not offered to other devices. The setting persists
            across restarts. ID can be shortened to any prefix that matches only one app. handoffctl apps lists the
            ids.

            With --json: disabled (the whole id).
            """,
        example: "handoffctl app disable org.example.Editor")

    private let change: AppChange

    package init(validating arguments: ParsedArguments) throws(UsageError) {
        change = try AppChange(.disable, arguments, command: Self.specification.name)
    }

    package func run(in context: CommandContext) { change.run(in: context) }
}

/// `app mute`: stops notifications for offers that an app would open.
package struct AppMuteCommand: Command {
    package static let specification = CommandSpecification(
        words: ["app", "mute"], operands: [.one(.app)],
        summary: "do not show notifications for offers that an app would open",
        details: """
            Has the same effect as the button 'Mute …' of a notification. The offers stay in handoffctl list and can be
            continued. ID can be shortened to any prefix that matches only one app. handoffctl apps lists the ids.

            With --json: muted (the whole id).
            """,
        example: "handoffctl app mute org.example.Editor")

    private let change: AppChange

    package init(validating arguments: ParsedArguments) throws(UsageError) {
        change = try AppChange(.mute, arguments, command: Self.specification.name)
    }

    package func run(in context: CommandContext) { change.run(in: context) }
}

/// `app unmute`: shows notifications again for offers that an app would open.
package struct AppUnmuteCommand: Command {
    package static let specification = CommandSpecification(
        words: ["app", "unmute"], operands: [.one(.app)],
        summary: "show notifications again for offers that an app would open",
        details: """
            ID can be shortened to any prefix that matches only one app. handoffctl apps lists the ids.

            With --json: unmuted (the whole id).
            """,
        example: "handoffctl app unmute org.example.Editor")

    private let change: AppChange

    package init(validating arguments: ParsedArguments) throws(UsageError) {
        change = try AppChange(.unmute, arguments, command: Self.specification.name)
    }

    package func run(in context: CommandContext) { change.run(in: context) }
}

/// `app keep`: lets other devices keep the activities of an app again.
package struct AppKeepCommand: Command {
    package static let specification = CommandSpecification(
        words: ["app", "keep"], operands: [.one(.app)],
        summary: "let other devices keep the activities of an app again",
        details: """
            ID can be shortened to any prefix that matches only one app. handoffctl apps lists the ids.

            With --json: kept (the whole id).
            """,
        example: "handoffctl app keep org.example.Editor")

    private let change: AppChange

    package init(validating arguments: ParsedArguments) throws(UsageError) {
        change = try AppChange(.keep, arguments, command: Self.specification.name)
    }

    package func run(in context: CommandContext) { change.run(in: context) }
}

/// `app no-keep`: forbids other devices to keep the activities of an app.
package struct AppNoKeepCommand: Command {
    package static let specification = CommandSpecification(
        words: ["app", "no-keep"], operands: [.one(.app)],
        summary: "let no other device keep the activities of an app",
        details: """
            The app still offers its activities while this device is awake. Other devices get no copies of them, and
            delete those that they have, so they cannot continue them while this device is asleep or off. The setting
            persists across restarts. 'keep = off' in handoffd.conf applies to all apps. ID can be shortened to any
            prefix that matches only one app. handoffctl apps lists the ids.

            With --json: noLongerKept (the whole id).
            """,
        example: "handoffctl app no-keep org.example.Editor")

    private let change: AppChange

    package init(validating arguments: ParsedArguments) throws(UsageError) {
        change = try AppChange(.noKeep, arguments, command: Self.specification.name)
    }

    package func run(in context: CommandContext) { change.run(in: context) }
}

/// The common implementation of the commands that change a setting of one app.
private struct AppChange {
    /// The change. The raw value is the past participle shown when it is done.
    enum Kind: String {
        case enable = "enabled"
        case disable = "disabled"
        case mute = "muted"
        case unmute = "unmuted"
        case keep = "kept"
        case noKeep = "no longer kept"
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
            case .keep, .noKeep: client.setApp(app, kept: kind == .keep, then)
            }
        } present: { app in
            let member = kind == .noKeep ? "noLongerKept" : kind.rawValue
            context.show([member: .string(app)], or: "\(kind.rawValue) \(app)")
        }
    }
}

/// Describes conflicts between apps that claim the same type or site.
enum ChoiceText {
    /// Returns a line for each claim of the app that another app opens.
    static func conflicts(_ app: ControlApp) -> [String] {
        (app.yields ?? []).map { yield in
            "\(VisibleText.escape(yield.claim)) opens in \(VisibleText.escape(yield.to)), which was installed before "
                + VisibleText.escape(app.id)
        }
    }

    /// Returns how to choose. Not a shell command, because a type can contain shell metacharacters.
    static func remedy(_ app: ControlApp, _ yield: ControlApp.Yield) -> String {
        let type = app.types.contains(yield.claim) ? yield.claim : ActivityType.browsingWeb.text
        return "to choose, add a line to ~/.config/handoff/defaults (takes effect immediately): "
            + "\(VisibleText.escape(type))=\(VisibleText.escape(app.id)) or "
            + "\(VisibleText.escape(type))=\(VisibleText.escape(yield.to))"
    }
}
