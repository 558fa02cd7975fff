import HandoffClient
import HandoffControl
import HandoffJSON
import HandoffModel
package import LoopIO

/// `watch`: follows the other devices' offers until interrupted.
package struct WatchCommand: Command {
    package static let specification = CommandSpecification(
        words: ["watch"], summary: "follow the activities that the other devices offer",
        details: """
            Prints the current offers, then 'ready', then each change: added, changed, removed. Exits when interrupted,
            or with status 3 if the daemon stops.

            With --json: event (added, also for the current offers, changed, removed, ready), and the fields of 'list'
            except with ready.
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
                    Self.show(event, isChange: isReady, context)
                case .failure(let error): context.fail(CommandFailure(error))
                }
            }
        }
    }

    /// - Parameter isChange: true if it occurred after the initial offers.
    private static func show(_ event: WatchEvent, isChange: Bool, _ context: CommandContext) {
        context.show(Describe.event(event.name, event.activity?.json ?? [:]), or: text(event, isChange: isChange))
    }

    private static func text(_ event: WatchEvent, isChange: Bool) -> String {
        guard let activity = event.activity else { return event.name }
        let title = Describe.title(activity.title, type: activity.type)
        let word = isChange ? event.name : "offered"
        return "\(Describe.word(word, width: 7))  \(activity.id.short)  \(title)"
            + " from \(VisibleText.escape(activity.deviceName))"
            + "  (\(activity.type), \(Describe.opensPhrase(activity.opens)))"
    }
}
