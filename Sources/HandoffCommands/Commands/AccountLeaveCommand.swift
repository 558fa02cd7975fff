import HandoffClient
import HandoffControl
import HandoffJSON
import HandoffModel
package import LoopIO

/// `account leave`: removes this device from its account.
package struct AccountLeaveCommand: Command {
    package static let specification = CommandSpecification(
        words: ["account", "leave"], summary: "remove this device from its account",
        options: [OptionSpecification("--yes", .flag, "do not ask for confirmation")],
        details: """
            The device deletes the account's keys and gets a new identity. The other devices no longer know it. It can
            join this or another account later, but only as a new device. The command first asks for confirmation, and
            lists the remaining devices. It then lists the devices that already know that it left, and those that do
            not. Offline devices learn of this when they sync with a device that knows. If this is the last device, the
            account is deleted.

            With --json: told and waiting (lists of ids).
            """,
        example: "handoffctl account leave")

    private let isConfirmed: Bool

    package init(validating arguments: ParsedArguments) throws(UsageError) {
        isConfirmed = arguments.has("--yes")
    }

    package func run(in context: CommandContext) {
        guard isConfirmed || context.keyboard.isTerminal else {
            return context.fail(.confirmationImpossible("whether to leave the account"))
        }
        // Fetch the device list first: the names are no longer available afterwards.
        context.withDevices { client, devices throws(CommandFailure) in
            guard !isConfirmed else { return leave(devices, client, context) }
            context.console.writeDiagnostics(Self.warning(devices))
            context.confirm("Leave the account?") { [unowned client] yes in
                if yes { leave(devices, client, context) } else { context.fail(.notConfirmed()) }
            }
        }
    }

    private static func warning(_ devices: [ControlDevice]) -> String {
        let others = devices.filter { !$0.isSelf }.map(\.id)
        let names = DeviceText(devices)
        return others.isEmpty
            ? "This is the last device: the account will be deleted and cannot be restored.\n"
            : "This device will forget the account and must be paired again to rejoin. Devices that remain: "
                + "\(names.labels(others))\n"
    }

    private func leave(_ devices: [ControlDevice], _ client: ControlClient, _ context: CommandContext) {
        client.leaveAccount { result in
            do throws(ClientError) {
                show(try result.get(), devices, context)
            } catch {
                context.fail(CommandFailure(leaving: error))
            }
        }
    }

    private func show(_ notified: [DeviceID], _ devices: [ControlDevice], _ context: CommandContext) {
        let pending = devices.filter { !$0.isSelf && !notified.contains($0.id) }.map(\.id)
        if context.json {
            func list(_ ids: [DeviceID]) -> JSON { .array(ids.map { .string($0.hex) }) }
            context.console.line(["told": list(notified), "waiting": list(pending)])
        } else {
            let names = DeviceText(devices)
            context.console.line("left the account; this device has a new identity")
            if !notified.isEmpty { context.console.line("notified  \(names.labels(notified))") }
            if !pending.isEmpty { context.console.line("pending   \(names.labels(pending))") }
        }
        if !pending.isEmpty { context.note("pending devices list this device until they learn that it left") }
        context.finish(.done)
    }
}
