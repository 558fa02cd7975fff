import HandoffClient
import HandoffControl
import HandoffJSON
import HandoffModel
package import LoopIO

/// `withdraw`: withdraws an activity that is published here.
package struct WithdrawCommand: Command {
    package static let specification = CommandSpecification(
        words: ["withdraw"], operands: [.one("ID")],
        summary: "withdraw an activity that any app of this device published",
        details: """
            The activity disappears from all devices, and its app is notified. handoffctl list --mine shows the
            activities of this device. ID can be shortened to any unique prefix.

            With --json: withdrawn (the whole id).
            """,
        example: "handoffctl withdraw 3f9c2ab")

    private let activity: String

    package init(validating arguments: ParsedArguments) throws(UsageError) {
        activity = arguments.operands.first ?? ""
    }

    package func run(in context: CommandContext) {
        context.request { client, then in
            client.withdraw(activity, then)
        } present: { id in
            context.show(["withdrawn": .string(id.hex)], or: "withdrawn \(id.short)")
        }
    }
}
