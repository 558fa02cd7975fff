import HandoffClient
import HandoffControl
import HandoffJSON
import HandoffModel

/// `watch`: follows what the other devices offer until it is interrupted.
package struct WatchCommand: Command {
    package static let specification = CommandSpecification(
        words: ["watch"], summary: "follow what the other devices offer",
        details: """
            First one 'added' for each present offer, then 'ready', then what changes: added, changed, removed.
            Ends when interrupted, or with status 3 when the daemon goes away.
            """,
        example: "handoffctl watch --json | jq --unbuffered -r .title")

    package init(validating arguments: ParsedArguments) throws(UsageError) {}

    package func run(in context: CommandContext) {
        context.onInterrupt { context.finish(.done) }
        context.connect { client in
            client.watch { result in
                switch result {
                case .success(let event): Self.show(event, context)
                case .failure(let error): context.fail(CommandFailure(error))
                }
            }
        }
    }

    private static func show(_ event: WatchEvent, _ context: CommandContext) {
        if context.json {
            context.console.line(Describe.event(event.name, event.activity?.json ?? [:]))
        } else {
            context.console.line(text(event))
        }
    }

    private static func text(_ event: WatchEvent) -> String {
        guard let activity = event.activity else { return event.name }
        let title = Describe.title(activity.title, type: activity.type)
        return "\(Describe.word(event.name, width: 7))  \(activity.id.short)  \(title)"
            + " from \(VisibleText.escape(activity.deviceName))"
            + "  (\(activity.type), \(Describe.opensPhrase(activity.opens)))"
    }
}
