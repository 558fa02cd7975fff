import HandoffClient
import HandoffControl
import HandoffModel

/// `devices`: the devices of the account.
package struct DevicesCommand: Command {
    package static let specification = CommandSpecification(
        words: ["devices"], summary: "list the devices of the account",
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
                for line in Self.table(devices).lines { context.console.line(line) }
            }
        }
    }

    private static func table(_ devices: [ControlDevice]) -> ColumnTable {
        var table = ColumnTable(["NAME", "KIND", "STATE", "ID"])
        for device in devices {
            table.add([
                VisibleText.escape(device.name.isEmpty ? "unnamed" : device.name),
                device.kind.name,
                device.isSelf ? "this device" : device.online ? "online" : "offline",
                device.id.grouped,
            ])
        }
        return table
    }
}
