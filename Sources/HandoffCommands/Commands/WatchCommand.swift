import HandoffClient
import HandoffControl
import HandoffJSON
import HandoffModel

/// `watch`: follows what the other devices offer until it is interrupted.
package struct WatchCommand: Command {
    package static let specification = CommandSpecification(
        words: ["watch"], summary: "follow what the other devices offer",
        details: """
            First what is on offer already, then 'ready', then what changes: added, changed, removed. With --json what is on
            offer already is 'added', too.
            Ends when interrupted, or with status 3 when the daemon goes away.
            """,
        example: "handoffctl watch --json | jq --unbuffered -r .title")

    package init(validating arguments: ParsedArguments) throws(UsageError) {}

    package func run(in context: CommandContext) {
        context.onInterrupt { context.finish(.done) }
        context.connect { client in
            var isReady = false
            client.watch { result in
                switch result {
                case .success(let event):
                    if case .ready = event { isReady = true }
                    Self.show(event, isNews: isReady, context)
                case .failure(let error): context.fail(CommandFailure(error))
                }
            }
        }
    }

    /// - Parameter isNews: whether it came about after the command began.
    private static func show(_ event: WatchEvent, isNews: Bool, _ context: CommandContext) {
        context.show(Describe.event(event.name, event.activity?.json ?? [:]), or: text(event, isNews: isNews))
    }

    private static func text(_ event: WatchEvent, isNews: Bool) -> String {
        guard let activity = event.activity else { return event.name }
        let title = Describe.title(activity.title, type: activity.type)
        let word = isNews ? event.name : "offered"
        return "\(Describe.word(word, width: 7))  \(activity.id.short)  \(title)"
            + " from \(VisibleText.escape(activity.deviceName))"
            + "  (\(activity.type), \(Describe.opensPhrase(activity.opens)))"
    }
}
