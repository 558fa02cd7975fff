import HandoffClient
import HandoffJSON
import HandoffModel
package import LoopIO

/// `account import`: joins an account with a file that another device exported.
package struct AccountImportCommand: Command {
    package static let specification = CommandSpecification(
        words: ["account", "import"], operands: [.one(.fileOrStream)],
        summary: "join an account with a file that another device exported",
        options: [
            OptionSpecification(
                "--passphrase-file", .value(.file), "read the passphrase of the file from the first line of FILE")
        ],
        details: """
            With -, the file is read from standard input. If it is protected, the passphrase is prompted for on the
            terminal, also with -. After a wrong passphrase, two more attempts are allowed, and the file remains
            unused. --passphrase-file fails for a file that is not protected, which may not be the intended one.

            The file can be used only once: delete it afterwards. To admit this device, at least one device that was in
            the account when the file was exported must be online and reachable, since only such a device can check
            that the file is still valid. If none is reachable within 8 s, the exit status is 1, and the error
            NotJoined states what is missing. This device then keeps trying: handoffctl status shows a warning until it
            has joined, and handoffctl account leave cancels the attempt. A file of the account that this device is
            already in changes nothing, and the exit status is 0. A device that was removed from its account leaves
            that account first and gets a new identity.

            With --json: account, joined, missing (unless it has joined).
            """,
        example: "handoffctl account import account.handoff")

    /// The maximum size of an account file, in bytes: more than the largest roster needs.
    private static let maxFile = 16 * 1_048_576

    /// The maximum number of passphrase prompts.
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
                context.note("warning: other users can read \(source), which is secret")
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
            prompt(secret, attemptsLeft: Self.attempts, context)
        } else {
            send(secret, nil, attemptsLeft: 0, context)
        }
    }

    private var sourceName: String { source == "-" ? "standard input" : source }

    private func prompt(_ secret: SecretBuffer, attemptsLeft: Int, _ context: CommandContext) {
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
                    prompt(secret, attemptsLeft: attemptsLeft, context)
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

    /// The file is stored, but only a member can verify it.
    private func showWaiting(_ account: AccountID, _ missing: String, _ context: CommandContext) {
        if context.json {
            context.console.line(
                ["account": .string(account.hex), "joined": .bool(false), "missing": .string(missing)])
        }
        context.fail(.notJoined(missing: missing))
    }
}
