import HandoffClient
import HandoffControl
import HandoffJSON
import HandoffModel

/// `device rename`: a name that all members see.
package struct DeviceRenameCommand: Command {
    package static let specification = CommandSpecification(
        words: ["device", "rename"], operands: "DEVICE NAME", operandCount: 2...2,
        summary: "give a device a name that all devices of the account see",
        details: "DEVICE is its present name, or the beginning of its id.",
        example: "handoffctl device rename 3f9c2ab 'Old laptop'")

    private let device: String
    private let name: String

    package init(validating arguments: ParsedArguments) throws(UsageError) {
        device = try ArgumentValue.text(arguments.operands.first ?? "", option: "DEVICE")
        name = try ArgumentValue.text(arguments.operands.last ?? "", option: "NAME")
    }

    package func run(in context: CommandContext) {
        context.withDevices { client, devices throws(CommandFailure) in
            let chosen = try DeviceChoice.find(device, in: devices)
            client.renameDevice(chosen.id, name: name) { result in
                switch result {
                case .success: show(chosen, DeviceText(devices), context)
                case .failure(let error): context.fail(CommandFailure(error))
                }
            }
        }
    }

    private func show(_ chosen: ControlDevice, _ texts: DeviceText, _ context: CommandContext) {
        if context.json {
            context.console.line(["renamed": .string(chosen.id.hex), "name": .string(name)])
        } else {
            context.console.line("renamed \(texts.label(chosen.id)) to \(VisibleText.escape(name))")
        }
        context.finish(.done)
    }
}
