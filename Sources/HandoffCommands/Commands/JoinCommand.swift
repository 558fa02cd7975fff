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
            A device that was removed from its account leaves that first, and gets a new identity.
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

/// What the inviting device shows: digits, or a link.
enum PairingSecret: Equatable {
    /// Eight ASCII digits.
    case code(String)
    /// A text that begins with `handoff:`; what is in it is for the daemon to understand.
    case link(String)

    private static let digits = 8
    private static let scheme = "handoff:"
    /// The longest link, in bytes.
    private static let maxLink = 512

    /// Understands what a person typed: digits in any groups, or a link. Nil when it is neither.
    init?(_ text: String) {
        if text.lowercased().hasPrefix(Self.scheme) {
            let isVisible = text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
            guard isVisible, text.utf8.count <= Self.maxLink else { return nil }
            // Schemes are the same in either case; the rest is taken as it is.
            self = .link(Self.scheme + text.dropFirst(Self.scheme.count))
            return
        }
        let bare = text.filter { !$0.isWhitespace && $0 != "-" }
        guard bare.utf8.count == Self.digits, bare.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        self = .code(bare)
    }
}
