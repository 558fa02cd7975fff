import HandoffClient
import HandoffControl
import HandoffJSON
import HandoffModel
package import LoopIO

/// `devices`: lists the devices of the account.
package struct DevicesCommand: Command {
    package static let specification = CommandSpecification(
        words: ["devices"], summary: "list the devices of the account",
        details: """
            Lists the name, the kind, whether it is this device, reachable or not, and the beginning of the id. The
            last column warns that the device has not received the latest account key, that its pairing was not
            finished (run handoffctl join there again, or remove it), or that its name looks like another's: they
            differ only in case, spaces and invisible characters. A device announces that its machine is about to
            sleep: 'asleep since 14:02'. If no other device has replied for a day, a message on standard error states
            that this one may have been removed, and how to find out.

            With --json, a line for each: id, name, label, kind, self, online, current, unfinished, admittedBy, heard,
            asleepSince. The label is the name as shown elsewhere, with the first digits of the id if another device
            has a similar name.
            """,
        example: "handoffctl devices")

    package init(validating arguments: ParsedArguments) throws(UsageError) {}

    package func run(in context: CommandContext) {
        context.request { client, then in
            client.listDevices { result in
                // Get the status only if all other devices are offline.
                guard case .success(let devices) = result, !context.json,
                    devices.contains(where: { !$0.isSelf }), !devices.contains(where: { !$0.isSelf && $0.online })
                else { return then(result.map { ($0, nil) }) }
                // The status only adds a hint: show the devices even without it.
                client.getStatus { then(.success((devices, (try? $0.get()).flatMap(Obstacle.unanswered)))) }
            }
        } present: { (devices: [ControlDevice], obstacle: Obstacle?) in
            if context.json {
                context.console.lines(devices.map(\.json))
            } else if devices.isEmpty {
                context.note("this device has no account yet; create one with: handoffctl account create")
            } else {
                context.console.write(DeviceText(devices, areUnanswered: obstacle != nil).table)
                if let obstacle { context.note(obstacle.message, remedy: obstacle.remedy) }
            }
        }
    }
}

/// `device rename`: sets the name of a device for all members.
package struct DeviceRenameCommand: Command {
    package static let specification = CommandSpecification(
        words: ["device", "rename"], operands: [.one(.device), .one("NAME")],
        summary: "rename a device for all devices of the account",
        details: """
            DEVICE is the current name or an id prefix. All devices see the new name. It persists across restarts of
            that device, even if its configuration contains a name (the setting 'name', or the option --name of
            handoffd). The configured name is used again only when it is changed.

            With --json: renamed (the id), name.
            """,
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
        context.show(
            ["renamed": .string(chosen.id.hex), "name": .string(name)],
            or: "renamed \(texts.label(chosen.id)) to \(VisibleText.escape(name))")
        context.finish(.done)
    }
}

/// `device remove`: permanently removes a device from the account.
package struct DeviceRemoveCommand: Command {
    package static let specification = CommandSpecification(
        words: ["device", "remove"], operands: [.one(.otherDevice)],
        summary: "permanently remove a device from the account and create a new account key",
        options: [
            OptionSpecification("--drop", .values(.otherDevice), "also remove this device, which DEVICE admitted"),
            OptionSpecification("--yes", .flag, "do not ask for confirmation"),
            OptionSpecification("--no-wait", .flag, "do not wait for the other devices to confirm the removal"),
            OptionSpecification(
                "--timeout", .value("SECONDS"), "wait this long for the other devices to confirm (default: 10)"),
        ],
        details: """
            DEVICE is a name or an id prefix. The command first asks for confirmation, with the id, and lists the
            devices that the removed device admitted. Those stay in the account unless you also remove them with
            --drop. It then waits for the other devices to receive the removal, and lists those that have not. Until
            another device learns of the removal, the removed device can still read that device's offers. Offline
            devices learn of the removal when they are online again. The exit status is 0 even if some devices have not
            confirmed yet. A device cannot remove itself: see handoffctl help account leave.

            With --json, first removed, then confirmed for each device that receives the removal:

              removed    device, confirmed, waiting (lists of ids): the removal is stored
              confirmed  device, confirmed, waiting (lists of ids): this device has received it
            """,
        example: "handoffctl device remove laptop")

    private let request: RemovalRequest

    package init(validating arguments: ParsedArguments) throws(UsageError) {
        let command = Self.specification.name
        var timeout = Duration.seconds(10)
        if arguments.has("--no-wait") {
            if arguments.value("--timeout") != nil { throw .conflict("--no-wait", "--timeout", command: command) }
            timeout = .zero
        } else if let text = arguments.value("--timeout") {
            timeout = .seconds(try ArgumentValue.seconds(text, option: "--timeout", command: command))
        }
        var dropped: [String] = []
        for text in arguments.all("--drop") { dropped.append(try ArgumentValue.text(text, option: "--drop")) }
        request = RemovalRequest(
            device: try ArgumentValue.text(arguments.operands.first ?? "", option: "DEVICE"), dropped: dropped,
            isConfirmed: arguments.has("--yes"), timeout: timeout)
    }

    package func run(in context: CommandContext) {
        guard request.isConfirmed || context.keyboard.isTerminal else {
            return context.fail(.confirmationImpossible("whether to remove the device"))
        }
        let session = RemovalSession(request, context)
        context.keep(session)
        session.start()
    }
}
