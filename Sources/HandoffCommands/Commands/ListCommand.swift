import HandoffClient
import HandoffControl
import HandoffModel

/// `list`: what the other devices offer, and what would open it here.
package struct ListCommand: Command {
    package static let specification = CommandSpecification(
        words: ["list"], summary: "list what the other devices offer, most recent first",
        options: [OptionSpecification("--here", .flag, "only what would open on this device")],
        details: "The last column says what would open it here: an app, the web, or nothing and why.",
        example: "handoffctl list --here")

    /// Columns that a title may take on a terminal; files and pipes get all of it.
    private static let titleWidth = 40

    private let here: Bool

    package init(validating arguments: ParsedArguments) throws(UsageError) {
        here = arguments.has("--here")
    }

    package func run(in context: CommandContext) {
        context.request { client, then in
            client.listActivities(here: here) { result in
                guard case .success(let activities) = result, activities.isEmpty, !context.json else {
                    return then(result.map { ($0, nil) })
                }
                client.getStatus { then($0.map { (activities, Obstacle.first(.receive, $0)) }) }
            }
        } present: { (activities: [ControlActivity], obstacle: Obstacle?) in
            if context.json {
                for activity in activities { context.console.line(activity.json) }
            } else if let obstacle {
                context.note("nothing is on offer here: \(obstacle.message)", remedy: obstacle.remedy)
            } else if activities.isEmpty {
                context.note("no other device offers anything\(here ? " that would open here" : "")")
            } else {
                let table = Self.table(activities, titleWidth: context.console.outputIsTerminal ? Self.titleWidth : nil)
                context.console.write(table)
            }
        }
    }

    private static func table(_ activities: [ControlActivity], titleWidth: Int?) -> ColumnTable {
        let idLength = Describe.distinctLength(activities.map(\.id))
        let origins = Dictionary(activities.map { ($0.device, $0.deviceName) }) { first, _ in first }
        let alike = ConfusableNames.groups(origins)
        var table = ColumnTable(["ID", "TITLE", "TYPE", "DEVICE", "AGE", "OPENS IN"])
        for activity in activities {
            let title = VisibleText.escape(activity.title ?? "")
            table.add([
                String(activity.id.hex.prefix(idLength)),
                titleWidth.map { DisplayWidth.truncate(title, to: $0) } ?? title,
                Describe.type(activity.type),
                alike[activity.device] == nil
                    ? VisibleText.escape(activity.deviceName)
                    : DeviceText.label(activity.deviceName, activity.device.short),
                RelativeAge.text(seconds: activity.age),
                Describe.opens(activity.opens),
            ])
        }
        return table
    }
}
