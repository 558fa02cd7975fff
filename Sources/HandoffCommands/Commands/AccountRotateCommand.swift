import HandoffClient
import HandoffJSON

/// `account rotate`: a new account key for the same devices.
package struct AccountRotateCommand: Command {
    package static let specification = CommandSpecification(
        words: ["account", "rotate"], summary: "make a new account key, and give it to all devices of the account",
        details: """
            For a key that may have become known, as by a backup of a device's state. Who belongs to the account stays
            as it is: a device that was lost is taken out with handoffctl device remove, which makes a new key, too.
            """,
        example: "handoffctl account rotate")

    package init(validating arguments: ParsedArguments) throws(UsageError) {}

    package func run(in context: CommandContext) {
        context.request { client, then in
            client.rotateKey(then)
        } present: { epoch in
            if context.json {
                context.console.line(["epoch": .integer(Int64(epoch))])
            } else {
                context.console.line("made a new account key: epoch \(epoch)")
                context.note("handoffctl devices shows who has not heard of it yet")
            }
        }
    }
}
