package import LoopIO

/// `join`: adds this device to an account.
package struct JoinCommand: Command {
    package static let specification = CommandSpecification(
        words: ["join"], operandCount: 0...64, summary: "join an account with the code that another device shows",
        options: [
            OptionSpecification(
                "--peer", .value("HOST:PORT"), "the address of that device, if it is not found automatically")
        ],
        details: """
            Run handoffctl pair on a device of the account. It shows an 8-digit code and a link. This command prompts
            for either one, or reads one line from a pipe: 'echo 12345678 | handoffctl join'. The code cannot be an
            argument: every user of this machine could read it, and the shell would save it. On a terminal you can
            correct a wrong code. A code that was rejected before in the same run is not tried again.

            The other device is searched for in the network, unless the link or --peer contains its address. Its user
            then confirms. A device that was removed from its account leaves that account first and gets a new
            identity.

            On failure, the error is PairingFailed with one of these reasons: wrongCode, codeUsed, windowClosed, busy,
            declined, cancelled, nobodyThere, unreachable, noNetwork, untrusted, versionsDiffer, alreadyMember,
            removed, accountFull, failed.

            With --json:

              looking  searches for devices that admit others; not with an address or a link
              calling  address: connects to it
              waiting  device (id, name): the code is correct, and that device's user must confirm
              joined   account, device, devices (how many): this device belongs to the account; the end
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
    /// Eight ASCII digits.
    case code(String)
    /// A text that begins with `handoff:`. The daemon parses the rest.
    case link(String)

    private static let digits = 8
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
        guard bare.utf8.count == Self.digits, bare.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        self = .code(bare)
    }
}
