import HandoffClient
import HandoffJSON
import HandoffModel

/// `account create`: the first device of an account makes it.
package struct AccountCreateCommand: Command {
    package static let specification = CommandSpecification(
        words: ["account", "create"], summary: "create an account with this device as its first member",
        details: "Other devices join by a code: see handoffctl help pair.",
        example: "handoffctl account create")

    package init(validating arguments: ParsedArguments) throws(UsageError) {}

    package func run(in context: CommandContext) {
        context.request { client, then in
            client.createAccount(then)
        } present: { account in
            if context.json {
                context.console.line(["account": .string(account.hex)])
            } else {
                context.console.line("created account \(account.grouped)")
            }
        }
    }
}
