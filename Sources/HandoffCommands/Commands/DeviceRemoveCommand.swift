/// `device remove`: takes a device out of the account for ever.
package struct DeviceRemoveCommand: Command {
    package static let specification = CommandSpecification(
        words: ["device", "remove"], operands: "DEVICE", operandCount: 1...1,
        summary: "remove a device from the account for ever, and make a new account key",
        options: [
            OptionSpecification("--drop", .values("DEVICE"), "remove this one too, which that device let in"),
            OptionSpecification("--yes", .flag, "do not ask"),
            OptionSpecification("--no-wait", .flag, "do not follow who hears of it"),
            OptionSpecification("--timeout", .value("SECONDS"), "follow who hears of it for this time; 10 without it"),
        ],
        details: """
            DEVICE is a name, or the beginning of an id. Devices that it let in stay, unless they are dropped with it.
            Until another device hears of the removal, the removed one can still read what that one offers; devices that
            are away hear of it when they are back. Status 0 also when some have yet to hear.
            """,
        example: "handoffctl device remove laptop")

    private let request: RemovalRequest

    package init(validating arguments: ParsedArguments) throws(UsageError) {
        let command = Self.specification.name
        var patience = Duration.seconds(10)
        if arguments.has("--no-wait") {
            if arguments.value("--timeout") != nil { throw .conflict("--no-wait", "--timeout", command: command) }
            patience = .zero
        } else if let text = arguments.value("--timeout") {
            patience = .seconds(try ArgumentValue.seconds(text, option: "--timeout", command: command))
        }
        var dropped: [String] = []
        for text in arguments.all("--drop") { dropped.append(try ArgumentValue.text(text, option: "--drop")) }
        request = RemovalRequest(
            device: try ArgumentValue.text(arguments.operands.first ?? "", option: "DEVICE"), dropped: dropped,
            isConfirmed: arguments.has("--yes"), patience: patience)
    }

    package func run(in context: CommandContext) {
        guard request.isConfirmed || context.keyboard.isTerminal else {
            return context.fail(.nobodyToAsk("whether to remove the device"))
        }
        let session = RemovalSession(request, context)
        context.keep(session)
        session.start()
    }
}
