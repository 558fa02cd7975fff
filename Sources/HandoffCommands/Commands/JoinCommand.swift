/// `join`: brings this device into an account.
package struct JoinCommand: Command {
    package static let specification = CommandSpecification(
        words: ["join"], operandCount: 0...64, summary: "join an account with the code that another device shows",
        options: [
            OptionSpecification("--peer", .value("HOST:PORT"), "where that device is, if it is not found by itself")
        ],
        details: """
            Run handoffctl pair on a device of the account; it shows 8 digits, and a link. You are asked for one of
            them; from a pipe one line is read. It is never an argument: those are seen by every user of this machine,
            and kept by the shell.
            """,
        example: "handoffctl join")

    private let peer: String?

    package init(validating arguments: ParsedArguments) throws(UsageError) {
        if !arguments.operands.isEmpty { throw .codeAsArgument() }
        peer = try arguments.value("--peer").map { text throws(UsageError) in
            try ArgumentValue.peerAddress([text], command: Self.specification.name)
        }
    }

    package func run(in context: CommandContext) {
        let session = JoinSession(peer: peer, context)
        context.keep(session)
        session.start()
    }
}
