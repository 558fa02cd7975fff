import HandoffModel

/// `join`: adds this device to an account.
package struct JoinCommand: Command {
    package static let specification = CommandSpecification(
        words: ["join"], operandCount: 0...64, summary: "join an account with the code that another device shows",
        options: [
            OptionSpecification(
                "--peer", .value("HOST:PORT"), "the address of that device, if it is not found automatically")
        ],
        details: """
            Run handoffctl pair on a device of the account. It shows an \(Limits.pairingCodeDigits)-digit code and a link. This command prompts
            for either one, or reads one line from a pipe. The code cannot be an argument: every user of this machine
            could read it, and the shell would save it.
            A device that was removed from its account leaves that account first and gets a new identity.
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

/// The code shown by the inviting device: digits or a link.
enum PairingSecret: Equatable {
    /// `Limits.pairingCodeDigits` ASCII digits.
    case code(String)
    /// A text that begins with `handoff:`. The daemon parses the rest.
    case link(String)

    private static let scheme = "handoff:"
    /// The maximum length of a link, in bytes.
    private static let maxLink = 512

    /// Parses typed input: digits in any groups, or a link. Nil if it is neither.
    init?(_ text: String) {
        if text.lowercased().hasPrefix(Self.scheme) {
            let isVisible = text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
            guard isVisible, text.utf8.count <= Self.maxLink else { return nil }
            // Schemes are case-insensitive; the rest is kept as is.
            self = .link(Self.scheme + text.dropFirst(Self.scheme.count))
            return
        }
        let bare = text.filter { !$0.isWhitespace && $0 != "-" }
        guard bare.utf8.count == Limits.pairingCodeDigits, bare.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        self = .code(bare)
    }
}
