import HandoffClient
import HandoffControl

/// `status`: the daemon, the device and the network, for those who ask whether it works.
package struct StatusCommand: Command {
    package static let specification = CommandSpecification(
        words: ["status"], summary: "show the daemon, this device, its account and its peers",
        example: "handoffctl status")

    package init(validating arguments: ParsedArguments) throws(UsageError) {}

    package func run(in context: CommandContext) {
        context.request { client, then in
            client.getStatus(then)
        } present: { status in
            if context.json {
                context.console.line(status.json)
            } else {
                context.console.write(StatusText.text(status))
            }
        }
    }
}
