import HandoffClient
import HandoffControl

/// `devices`: the devices of the account.
package struct DevicesCommand: Command {
    package static let specification = CommandSpecification(
        words: ["devices"], summary: "list the devices of the account",
        details: "The note says of a device what is to be known: pairing, the latest key, a name like another's.",
        example: "handoffctl devices")

    package init(validating arguments: ParsedArguments) throws(UsageError) {}

    package func run(in context: CommandContext) {
        context.request { client, then in
            client.listDevices(then)
        } present: { devices in
            if context.json {
                for device in devices { context.console.line(device.json) }
            } else if devices.isEmpty {
                context.note("this device has no account yet; create one with: handoffctl account create")
            } else {
                for line in DeviceText(devices).table.lines { context.console.line(line) }
            }
        }
    }
}
