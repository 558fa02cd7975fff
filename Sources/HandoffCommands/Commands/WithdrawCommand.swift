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
            activities of this device, and the items that could not be delivered (handoffctl send --wait), which are
            removed from the list. ID can be shortened to any unique prefix.

            With --json: withdrawn (the whole id).
            """,
        example: "handoffctl withdraw 3f9c2ab")

    private let activity: String

    package init(validating arguments: ParsedArguments) throws(UsageError) {
        activity = arguments.operands.first ?? ""
    }

    package func run(in context: CommandContext) {
        context.request { client, then in
            client.withdraw(activity) { [activity] result in
                guard case .failure(.refused(let refusal)) = result, refusal.kind == "NoSuchActivity" else {
                    return then(result)
                }
                client.diagnose { diagnosis in
                    let folder = (try? diagnosis.get()).flatMap { try? WaitingFolder(state: $0.stateFolder) }
                    let removed = folder.flatMap { try? $0.removeUndelivered(activity) }
                    then(removed.map { .success($0) } ?? result)
                }
            }
        } present: { id in
            context.show(["withdrawn": .string(id.hex)], or: "withdrawn \(id.short)")
        }
    }
}
