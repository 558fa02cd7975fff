import HandoffClient
import HandoffControl
import HandoffJSON
import HandoffModel

/// `account leave`: takes this device out of its account.
package struct AccountLeaveCommand: Command {
    package static let specification = CommandSpecification(
        words: ["account", "leave"], summary: "take this device out of its account",
        options: [OptionSpecification("--yes", .flag, "do not ask")],
        details: """
            The device forgets the account's keys and gets a new identity, so that it can join again, or another account;
            the other devices do not know it any more. It comes back as a new device only. Those that are away hear of it
            when they meet one that knows. With the last device the account itself is gone.
            """,
        example: "handoffctl account leave")

    private let isConfirmed: Bool

    package init(validating arguments: ParsedArguments) throws(UsageError) {
        isConfirmed = arguments.has("--yes")
    }

    package func run(in context: CommandContext) {
        guard isConfirmed || context.keyboard.isTerminal else {
            return context.fail(.nobodyToAsk("whether to leave the account"))
        }
        // The devices now, since the names are gone afterwards.
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
            ? "This is the last device: the account ends with it, and cannot be brought back.\n"
            : "This device will forget the account, and needs a new pairing to come back. In it remain: "
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

    private func show(_ told: [DeviceID], _ devices: [ControlDevice], _ context: CommandContext) {
        let untold = devices.filter { !$0.isSelf && !told.contains($0.id) }.map(\.id)
        if context.json {
            func list(_ ids: [DeviceID]) -> JSON { .array(ids.map { .string($0.hex) }) }
            context.console.line(["told": list(told), "waiting": list(untold)])
        } else {
            let names = DeviceText(devices)
            context.console.line("left the account; this device has a new identity")
            if !told.isEmpty { context.console.line("told      \(names.labels(told))") }
            if !untold.isEmpty { context.console.line("waiting   \(names.labels(untold))") }
        }
        if !untold.isEmpty { context.note("until the others hear of it, they still list this device") }
        context.finish(.done)
    }
}
