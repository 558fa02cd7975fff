/// `pair`: lets a new device into the account.
package struct PairCommand: Command {
    package static let specification = CommandSpecification(
        words: ["pair"], summary: "let a new device into the account: shows a code, and waits",
        options: [
            OptionSpecification("--yes", .flag, "let in the first device that knows the code, without a question"),
            OptionSpecification("--no-qr", .flag, "on a terminal: the link as text instead of the QR code"),
            OptionSpecification("--timeout", .value("SECONDS"), "close the window after this time; at most 3 minutes"),
        ],
        details: """
            Type the digits on the new device, after: handoffctl join. Or scan the QR code there: it is a link with a
            longer secret. Both are good for one device, and for three minutes; Ctrl-C closes the window before.
            When a device knows the code, you are asked whether to let it in: compare the digits of its id.
            The link is shown on a terminal only, and under --json.
            """,
        example: "handoffctl pair")

    private let request: PairRequest

    package init(validating arguments: ParsedArguments) throws(UsageError) {
        var timeout: Double?
        if let text = arguments.value("--timeout") {
            timeout = try ArgumentValue.seconds(text, option: "--timeout", command: Self.specification.name)
        }
        request = PairRequest(
            automatic: arguments.has("--yes"), showsQRCode: !arguments.has("--no-qr"),
            timeout: timeout.map { .seconds($0) })
    }

    package func run(in context: CommandContext) {
        guard request.automatic || context.keyboard.isTerminal else {
            return context.fail(.nobodyToAsk("whether to let a device in"))
        }
        let session = PairSession(request, context)
        context.keep(session)
        session.start()
    }
}
