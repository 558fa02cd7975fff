import HandoffClient
import HandoffJSON

/// `account rotate`: a new account key for the same devices.
package struct AccountRotateCommand: Command {
    package static let specification = CommandSpecification(
        words: ["account", "rotate"], summary: "make a new account key, and give it to all devices of the account",
        details: """
            For a key that may have become known. Who belongs to the account stays as it is. It does not help against who
            has a lost device, or a copy of a device's state, as in a backup: take that device out with handoffctl device
            remove, or let it leave, which makes a new key, too.
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
