import HandoffClient
import HandoffJSON
import HandoffModel
import LoopIO

/// `account import`: joins the account that another device exported.
package struct AccountImportCommand: Command {
    package static let specification = CommandSpecification(
        words: ["account", "import"], operands: "FILE|-", operandCount: 1...1,
        summary: "join the account of a file that another device exported",
        options: [
            OptionSpecification(
                "--passphrase-file", .value("FILE"), "its first line is the passphrase of the account file")
        ],
        details: """
            With - the file is read from standard input. The passphrase of a protected one is asked for at the terminal.
            The file works once: delete it afterwards. A device that was in the account when the file was made has to be in reach;
            until one is, this device goes on trying, and the exit code is 1.
            A device that was removed from its account leaves that first, and gets a new identity.
            """,
        example: "handoffctl account import account.handoff")

    /// The largest account file, in bytes: more than the fullest roster needs.
    private static let maxFile = 16 * 1_048_576

    /// How often a passphrase is asked for.
    private static let attempts = 3

    private let source: String
    private let passphraseFile: String?

    package init(validating arguments: ParsedArguments) throws(UsageError) {
        source = try ArgumentValue.text(arguments.operands.first ?? "", option: "FILE")
        passphraseFile = arguments.value("--passphrase-file")
        if let passphraseFile { _ = try ArgumentValue.text(passphraseFile, option: "--passphrase-file") }
    }

    package func run(in context: CommandContext) {
        let secret: SecretBuffer
        do {
            let file =
                source == "-"
                ? try LocalFile.readStandardInput(limit: Self.maxFile)
                : try LocalFile.read(source, limit: Self.maxFile)
            secret = SecretBuffer(file.bytes)
            if file.isReadableByOthers {
                context.note("warning: other users can read \(source), which is a secret")
            }
        } catch {
            context.fail(.file("read", sourceName, why: "\(error)"))
            return
        }
        let isProtected = AccountFileHeader.isProtected(secret.bytes)
        if let passphraseFile {
            guard isProtected else { return context.fail(.notProtected(sourceName)) }
            do throws(CommandFailure) {
                send(secret, try PassphraseSource.readFile(passphraseFile, context), attemptsLeft: 0, context)
            } catch {
                context.fail(error)
            }
        } else if isProtected {
            ask(secret, attemptsLeft: Self.attempts, context)
        } else {
            send(secret, nil, attemptsLeft: 0, context)
        }
    }

    private var sourceName: String { source == "-" ? "standard input" : source }

    private func ask(_ secret: SecretBuffer, attemptsLeft: Int, _ context: CommandContext) {
        context.askSecret("Passphrase of the account file: ", orElse: { .passphraseNeeded(why: $0) }) { passphrase in
            guard let passphrase, !passphrase.bytes.isEmpty else { return context.fail(.emptyPassphrase()) }
            send(secret, passphrase, attemptsLeft: attemptsLeft - 1, context)
        }
    }

    private func send(
        _ secret: SecretBuffer, _ passphrase: SecretBuffer?, attemptsLeft: Int, _ context: CommandContext
    ) {
        context.connect { client in
            client.importAccount(secret, passphrase: passphrase) { result in
                switch result {
                case .success(.joined(let account)): show(account, context)
                case .success(.waiting(let account, let missing)): showWaiting(account, missing, context)
                case .success(.refused("WrongPassphrase", let message)) where attemptsLeft > 0:
                    context.note(VisibleText.escape(message))
                    ask(secret, attemptsLeft: attemptsLeft, context)
                case .success(.refused(let name, let message)):
                    context.leaveFormerAccount(after: .importRefused(name: name, message: message)) {
                        send(secret, passphrase, attemptsLeft: attemptsLeft, context)
                    }
                case .failure(let error): context.fail(CommandFailure(error))
                }
            }
        }
    }

    private func show(_ account: AccountID, _ context: CommandContext) {
        context.show(["account": .string(account.hex), "joined": .bool(true)], or: "joined account \(account.grouped)")
        context.finish(.done)
    }

    /// The file is stored, and whether it is good only a member can tell.
    private func showWaiting(_ account: AccountID, _ missing: String, _ context: CommandContext) {
        if context.json {
            context.console.line(
                ["account": .string(account.hex), "joined": .bool(false), "missing": .string(missing)])
        }
        context.fail(.notJoined(missing: missing))
    }
}
