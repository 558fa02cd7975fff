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
            Shows the name and kind of each device, whether it is this device, online or offline, and the beginning of
            its id. The last column warns that the device has not received the latest account key, that its pairing was
            not finished (run handoffctl join there again, or remove it), or that its name looks like another's: they
            differ only in case, spaces and invisible characters. A device announces that its machine is about to sleep:
            'asleep since 14:02'. If no other device has replied for a day, a message on standard error states that this
            one may have been removed, and how to find out.

            With --json, a line for each: id, name, label, kind, self, online, current, unfinished, admittedBy, heard,
            asleepSince, acceptLimit (see handoffctl help device accept; null if you are always asked). The label is the
            name as shown elsewhere, with the first digits of the id if another device has a similar name.
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

/// `device accept`: sets whether documents of a device are saved without a prompt.
package struct DeviceAcceptCommand: Command {
    package static let specification = CommandSpecification(
        words: ["device", "accept"], operands: [.one(.otherDevice), .one(.words(["always", "ask"]))],
        summary: "save documents that a device sends without asking",
        options: [OptionSpecification("--limit", .value("SIZE"), "ask for larger files, such as 200M or 4G (1G)")],
        details: """
            By default, a notification asks for each item that another device sends. With 'always', documents of this
            device are saved in the downloads folder as soon as they are sent, also while the screen is locked, and a
            notification shows them. They are never opened. DEVICE is the name or an id prefix. With 'ask', the default
            applies again.

            The following is not saved without asking: files larger than SIZE, folders, output of programs, text of
            unknown size, and pages; files that may be run, which are all files with the permission to be executed, and
            all files whose type, by their name, is not on the list of documents (text, pictures, sound, video, office
            documents, archives and some others). Archives are not unpacked. Items that were sent before the command
            are not saved without asking either.

            With --json: accepted (the id), limit (in bytes, or null).
            """,
        example: "handoffctl device accept phone always --limit 200M")

    /// The limit if none is given: 1 GiB.
    private static let standardLimit: Int64 = 1 << 30

    private let device: String
    private let limit: Int64?

    package init(validating arguments: ParsedArguments) throws(UsageError) {
        let command = Self.specification.name
        device = try ArgumentValue.text(arguments.operands.first ?? "", option: "DEVICE")
        let word = arguments.operands.last ?? ""
        guard ["always", "ask"].contains(word) else {
            throw .badValue(word, of: "decision", expected: "'always' or 'ask'", command: command)
        }
        let isOn = word == "always"
        var limit = Self.standardLimit
        if let text = arguments.value("--limit") {
            guard isOn else { throw .conflict("ask", "--limit", command: command) }
            limit = try ArgumentValue.size(text, command: command)
        }
        self.limit = isOn ? limit : nil
    }

    package func run(in context: CommandContext) {
        context.withDevices { client, devices throws(CommandFailure) in
            let chosen = try DeviceChoice.find(device, in: devices)
            client.setAccepted(chosen.id, limit: limit) { result in
                switch result {
                case .success: show(chosen, DeviceText(devices), context)
                case .failure(let error): context.fail(CommandFailure(error))
                }
            }
        }
    }

    private func show(_ chosen: ControlDevice, _ texts: DeviceText, _ context: CommandContext) {
        let name = texts.label(chosen.id)
        context.show(
            ["accepted": .string(chosen.id.hex), "limit": limit.map { .integer($0) } ?? .null],
            or: limit.map { "documents of up to \(ByteText.text($0)) from \(name) are saved without asking" }
                ?? "items from \(name) are saved only if you accept them")
        context.finish(.done)
    }
}
