import HandoffClient
import HandoffControl
import HandoffModel
package import LoopIO

/// `list`: lists the offers of the other devices, and what opens them here.
package struct ListCommand: Command {
    package static let specification = CommandSpecification(
        words: ["list"], summary: "list the activities of the other devices, most recent first, or of this one",
        options: [
            OptionSpecification("--here", .flag, "only activities that would open on this device"),
            OptionSpecification("--mine", .flag, "activities of this device, and whether other devices see them"),
            OptionSpecification("--recent", .flag, "activities that are no longer on offer but can be reopened"),
        ],
        details: """
            The last column shows what would open the activity here: an app, which is started if needed, the web, or
            nothing and why. With 'web' it may be an app that claims the page's site, because the page is known only
            after the activity was continued. If no app here continues the type, the column names the app to install,
            provided that its id is the beginning of the type and the software catalogs of this device have it
            (appstreamcli get). With --mine, which excludes --here, the list shows which app published
            each activity, since when, whether other devices may see it, and which do. It also shows the items that
            waited for a device and could not be delivered, and the reason (handoffctl send --wait), until they are
            withdrawn.

            An activity of a device that is asleep or off is listed last, with the time since that state was saved, if
            this device or another one keeps a copy of it. Files and streams of such an activity are available only
            once its device is awake.

            With --recent, the list shows the activities of all devices, of this one too, whose state is still kept
            although no device offers them now: their app or their device was closed or restarted in the last 24 hours.
            'handoffctl continue ID' reopens them.

            If the list is empty, a message on standard error states the reason, if this device knows it: it is in no
            account, or Handoff is paused. The message also names devices whose offers are switched off here ('receive
            off --device'), devices that are asleep and offer nothing until they wake, and, with --mine, those that see
            none of this device's offers.

            With --json, a line for each: at least id, type, title, device, deviceName, deviceKind, streams,
            webpageURL, sent (only to this device), opens (kind, which is app, web or nothing, name, reason, and
            choices: the apps that continue it if there are several), missing (what this device lacks: kind, which is
            app, name, and appStream: the app's id in the software catalogs, or null), kept (null, or for a copy: state,
            which is asleep, offline or ended, since, asOf, size), age;
            with --mine at least id, type, title, app, offered, reason, age.
            """,
        example: "handoffctl list --here")

    /// The maximum width of a title on a terminal. Files and pipes get the full title.
    private static let titleWidth = 40

    private let here: Bool
    private let mine: Bool
    private let recent: Bool

    package init(validating arguments: ParsedArguments) throws(UsageError) {
        here = arguments.has("--here")
        mine = arguments.has("--mine")
        recent = arguments.has("--recent")
        if mine, recent { throw .conflict("--mine", "--recent", command: Self.specification.name) }
        if here, mine { throw .conflict("--here", "--mine", command: Self.specification.name) }
    }

    package func run(in context: CommandContext) {
        if mine { listOwn(in: context) } else if recent { listRecent(in: context) } else { listOthers(in: context) }
    }

    private func listOthers(in context: CommandContext) {
        context.request { client, then in
            client.listActivities(here: here) { result in
                guard case .success(let activities) = result, !context.json else {
                    return then(result.map { Offers(activities: $0) })
                }
                client.listDevices { result in
                    // The device list fails only without an account, which is reported separately.
                    let asleep = ((try? result.get()).map { DeviceText($0) })?.asleep
                    client.getStatus { status in
                        // Offers are shown even without a status.
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
                context.note("no offers here: \(obstacle.message)", remedy: obstacle.remedy)
            } else if offers.activities.isEmpty {
                context.note("no other device offers anything\(here ? " that would open here" : "")")
            } else {
                context.console.write(Self.table(offers.activities, context))
            }
            for obstacle in offers.hidden { context.note(obstacle.message, remedy: obstacle.remedy) }
            if let asleep = offers.asleep { context.note(asleep) }
        }
    }

    private func listRecent(in context: CommandContext) {
        context.request { client, then in
            client.listActivities(here: here, recent: true, then)
        } present: { (activities: [OfferedActivity]) in
            if context.json {
                context.console.lines(activities.map(\.json))
            } else if activities.isEmpty {
                context.note("no recent activity is kept")
            } else {
                context.console.write(Self.table(activities, context))
            }
        }
    }

    /// The offers, and the reasons why there are none or not more.
    private struct Offers {
        var activities: [OfferedActivity]
        /// A sentence about sleeping devices, which offer nothing until they wake.
        var asleep: String?
        var obstacle: Obstacle?
        /// Devices whose offers must not be received.
        var hidden: [Obstacle] = []
    }

    /// Returns a title formatted for its column.
    private static func cell(_ title: String?, _ context: CommandContext) -> String {
        let title = VisibleText.escape(title ?? "")
        return context.console.outputIsTerminal ? DisplayWidth.truncate(title, to: titleWidth) : title
    }

    private static func table(_ activities: [OfferedActivity], _ context: CommandContext) -> ColumnTable {
        let idLength = ActivityID.distinctLength(activities.map(\.id))
        var table = ColumnTable(["ID", "TITLE", "TYPE", "DEVICE", "AGE", "OPENS IN"])
        for activity in activities {
            table.add([
                String(activity.id.hex.prefix(idLength)),
                cell(activity.title, context),
                Describe.type(activity.type),
                VisibleText.escape(activity.deviceName) + (activity.sent ? ", sent to you" : "")
                    + Describe.state(activity),
                RelativeAge.text(seconds: activity.age),
                ([Describe.opens(activity.opens)] + Self.advice(activity)).joined(separator: "; "),
            ])
        }
        return table
    }

    /// Returns how to install the app that is missing for an offer.
    private static func advice(_ activity: OfferedActivity) -> [String] {
        (activity.missing ?? []).compactMap(\.remedy)
    }
}

// The activities published by this device.
extension ListCommand {
    private func listOwn(in context: CommandContext) {
        context.request { client, then in
            client.listPublished { result in
                client.diagnose { diagnosis in
                    // Only the daemon knows the folder. Without it, its own activities are shown.
                    let folder = (try? diagnosis.get()).flatMap { try? WaitingFolder(state: $0.stateFolder) }
                    guard case .success(let activities) = result, !context.json, activities.contains(where: \.offered)
                    else {
                        return then(result.map { Own($0, folder) })
                    }
                    client.getStatus { then($0.map { Own(activities, folder, status: $0) }) }
                }
            }
        } present: { (own: Own) in
            let (activities, status) = (own.activities, own.status)
            defer { Self.noteUnserved(own.folder, context) }
            if context.json {
                context.console.lines(activities.map(\.json))
            } else if activities.isEmpty {
                context.note("this device has published nothing")
            } else {
                context.console.write(Self.table(activities, context))
                if let status { Self.noteAudience(status, context) }
            }
        }
    }

    /// The activities of this device, with the items that could not be delivered.
    private struct Own {
        let activities: [PublishedActivity]
        let folder: WaitingFolder?
        /// Nil if nothing is offered.
        let status: ControlStatus?

        init(_ published: [PublishedActivity], _ folder: WaitingFolder?, status: ControlStatus? = nil) {
            activities = published + (folder?.undelivered ?? []).map(\.shown)
            self.folder = folder
            self.status = status
        }
    }

    private static func noteUnserved(_ folder: WaitingFolder?, _ context: CommandContext) {
        guard let folder, let count = try? folder.names().count, count > 0, !folder.isServed else { return }
        context.note(
            count == 1
                ? "one item waits for its device, but is not offered" : "\(count) items wait, but are not offered",
            remedy: "offer them with: handoffctl deliver")
    }

    private static func noteAudience(_ status: ControlStatus, _ context: CommandContext) {
        if let obstacle = Obstacle.first(.advertise, status) {
            return context.note("no device sees them: \(obstacle.message)", remedy: obstacle.remedy)
        }
        let names = Audience.names(status)
        context.note("seen by: \(names.isEmpty ? "no device" : names.joined(separator: ", "))")
        for obstacle in Obstacle.ofDevices(.advertise, status) {
            context.note(obstacle.message, remedy: obstacle.remedy)
        }
    }

    private static func table(_ activities: [PublishedActivity], _ context: CommandContext) -> ColumnTable {
        let idLength = ActivityID.distinctLength(activities.map(\.id))
        var table = ColumnTable(["ID", "TITLE", "TYPE", "APP", "SINCE", "OFFERED", "CONTINUED"])
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
                activity.continued.map { "on \(VisibleText.escape($0.deviceName)) at \(Describe.time($0.at))" } ?? "",
            ])
        }
        return table
    }
}
