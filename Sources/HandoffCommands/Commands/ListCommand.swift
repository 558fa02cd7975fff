import HandoffClient
import HandoffControl
import HandoffModel

/// `list`: what the other devices offer, and what would open it here.
package struct ListCommand: Command {
    package static let specification = CommandSpecification(
        words: ["list"], summary: "list what the other devices offer, most recent first, or what this one offers",
        options: [
            OptionSpecification("--here", .flag, "only what would open on this device"),
            OptionSpecification("--mine", .flag, "what this device has published, and whether others see it"),
        ],
        details: "The last column says what would open it here: an app, the web, or nothing and why.",
        example: "handoffctl list --here")

    /// Columns that a title may take on a terminal; files and pipes get all of it.
    private static let titleWidth = 40

    private let here: Bool
    private let mine: Bool

    package init(validating arguments: ParsedArguments) throws(UsageError) {
        here = arguments.has("--here")
        mine = arguments.has("--mine")
        if here, mine { throw .conflict("--here", "--mine", command: Self.specification.name) }
    }

    package func run(in context: CommandContext) {
        if mine { listOwn(in: context) } else { listOthers(in: context) }
    }

    private func listOthers(in context: CommandContext) {
        context.request { client, then in
            client.listActivities(here: here) { result in
                guard case .success(let activities) = result, !context.json else {
                    return then(result.map { Offers(activities: $0) })
                }
                client.listDevices { result in
                    // Devices are missing only where there is no account, and that is said otherwise.
                    let asleep = ((try? result.get()).map { DeviceText($0) })?.asleep
                    client.getStatus { status in
                        // Offers are shown also without it.
                        let hidden = (try? status.get()).map { Obstacle.ofDevices(.receive, $0) } ?? []
                        var offers = Offers(activities: activities, asleep: asleep, hidden: hidden)
                        guard activities.isEmpty else { return then(.success(offers)) }
                        then(
                            status.map {
                                offers.obstacle = .first(.receive, $0)
                                return offers
                            })
                    }
                }
            }
        } present: { (offers: Offers) in
            if context.json {
                context.console.lines(offers.activities.map(\.json))
            } else if let obstacle = offers.obstacle {
                context.note("nothing is on offer here: \(obstacle.message)", remedy: obstacle.remedy)
            } else if offers.activities.isEmpty {
                context.note("no other device offers anything\(here ? " that would open here" : "")")
            } else {
                context.console.write(Self.table(offers.activities, context))
            }
            for obstacle in offers.hidden { context.note(obstacle.message, remedy: obstacle.remedy) }
            if let asleep = offers.asleep { context.note(asleep) }
        }
    }

    /// What is on offer, and why nothing is, or not more.
    private struct Offers {
        var activities: [ControlActivity]
        /// Devices that are asleep and offer nothing meanwhile, for people.
        var asleep: String?
        var obstacle: Obstacle?
        /// Devices whose offers may not be received.
        var hidden: [Obstacle] = []
    }

    /// A title as its column has it.
    private static func cell(_ title: String?, _ context: CommandContext) -> String {
        let title = VisibleText.escape(title ?? "")
        return context.console.outputIsTerminal ? DisplayWidth.truncate(title, to: titleWidth) : title
    }

    private static func table(_ activities: [ControlActivity], _ context: CommandContext) -> ColumnTable {
        let idLength = ActivityID.distinctLength(activities.map(\.id))
        var table = ColumnTable(["ID", "TITLE", "TYPE", "DEVICE", "AGE", "OPENS IN"])
        for activity in activities {
            table.add([
                String(activity.id.hex.prefix(idLength)),
                cell(activity.title, context),
                Describe.type(activity.type),
                VisibleText.escape(activity.deviceName) + (activity.sent ? ", sent to you" : ""),
                RelativeAge.text(seconds: activity.age),
                Describe.opens(activity.opens),
            ])
        }
        return table
    }
}

// What this device has published.
extension ListCommand {
    private func listOwn(in context: CommandContext) {
        context.request { client, then in
            client.listPublished { result in
                guard case .success(let activities) = result, !context.json, activities.contains(where: \.offered)
                else {
                    return then(result.map { ($0, nil) })
                }
                client.getStatus { then($0.map { (activities, $0) }) }
            }
        } present: { (activities: [ControlPublication], status: ControlStatus?) in
            if context.json {
                context.console.lines(activities.map(\.json))
            } else if activities.isEmpty {
                context.note("this device has published nothing")
            } else {
                context.console.write(Self.table(activities, context))
                if let status { Self.sayWhoSees(status, context) }
            }
        }
    }

    private static func sayWhoSees(_ status: ControlStatus, _ context: CommandContext) {
        if let obstacle = Obstacle.first(.advertise, status) {
            return context.note("nobody sees it: \(obstacle.message)", remedy: obstacle.remedy)
        }
        let names = Audience.names(status)
        context.note("seen by: \(names.isEmpty ? "nobody" : names.joined(separator: ", "))")
        for obstacle in Obstacle.ofDevices(.advertise, status) {
            context.note(obstacle.message, remedy: obstacle.remedy)
        }
    }

    private static func table(_ activities: [ControlPublication], _ context: CommandContext) -> ColumnTable {
        let idLength = ActivityID.distinctLength(activities.map(\.id))
        var table = ColumnTable(["ID", "TITLE", "TYPE", "APP", "SINCE", "OFFERED"])
        for activity in activities {
            table.add([
                String(activity.id.hex.prefix(idLength)),
                cell(activity.title, context),
                Describe.type(activity.type),
                VisibleText.escape(activity.app ?? ""),
                activity.age.map { RelativeAge.text(seconds: $0) } ?? "",
                activity.offered
                    ? activity.to.map { "to \($0.short)" } ?? "yes"
                    : "no: \(VisibleText.escape(activity.reason ?? ""))",
            ])
        }
        return table
    }
}
