import HandoffClient
import HandoffJSON
package import LoopIO

/// `account export`: writes a file that lets one more device join.
package struct AccountExportCommand: Command {
    package static let specification = CommandSpecification(
        words: ["account", "export"], operands: [.one(.fileOrStream)], operandCount: 0...1,
        summary: "write a file that lets one more device join the account",
        options: [
            OptionSpecification("--passphrase", .flag, "protect the file with a passphrase, and prompt for it"),
            OptionSpecification(
                "--passphrase-file", .value(.file), "protect it with the passphrase in the first line of FILE"),
            OptionSpecification("--revoke", .value(.ticket), "revoke an exported file instead, by its ticket"),
        ],
        details: """
            The file can be used only once, within 24 hours. Keep it secret: any person who has it can join the
            account. It holds no account key, so it stays valid when the account key changes. Several files can be open
            at a time, each for one device, and the use of one does not invalidate another. To admit the new device, at
            least one device that is in the account now must be online and reachable.

            The file is created with mode 0600, and an existing file is never overwritten. It gets its name only when
            all of it is on the disk, if the file system supports that. With -, it is written to standard output,
            unless that is a terminal.

            With --passphrase, the passphrase is prompted for twice on the terminal, without echo. It cannot be given
            as an argument or environment variable, because other programs can read those. An empty one is refused.
            --passphrase and --passphrase-file exclude each other. --revoke needs no FILE, and accepts a ticket or a
            prefix of it. A revoked file can no longer be used to join. handoffctl account show lists the open tickets.

            With --json: file (nothing with -) or revoked.
            """,
        example: "handoffctl account export - | ssh laptop handoffctl account import -")

    private enum Task {
        case export(to: String, PassphraseSource)
        case revoke(ticket: String)
    }

    /// The maximum number of hexadecimal digits in a ticket's id.
    private static let ticketDigits = 64

    private let task: Task

    package init(validating arguments: ParsedArguments) throws(UsageError) {
        let command = Self.specification.name
        let source = try PassphraseSource(arguments, command: command)
        if let ticket = arguments.value("--revoke") {
            if !arguments.operands.isEmpty { throw .conflict("--revoke", "FILE", command: command) }
            if case .none = source {} else { throw .conflict("--revoke", "a passphrase", command: command) }
            task = .revoke(ticket: try ArgumentValue.identifier(ticket, digits: Self.ticketDigits, command: command))
        } else {
            guard let target = arguments.operands.first else { throw .missingOperand(Self.specification) }
            task = .export(to: try ArgumentValue.text(target, option: "FILE"), source)
        }
    }

    package func run(in context: CommandContext) {
        switch task {
        case .revoke(let ticket): revoke(ticket, context)
        case .export(let target, let source):
            if target == "-", context.console.outputIsTerminal { return context.fail(.secretToTerminal()) }
            source.read(in: context) { passphrase in export(to: target, passphrase, context) }
        }
    }

    private func revoke(_ ticket: String, _ context: CommandContext) {
        context.request { client, then in
            client.revokeExport(ticket: ticket, then)
        } present: { _ in
            context.show(["revoked": .string(ticket)], or: "revoked \(ticket): the file can no longer be used to join")
        }
    }

    private func export(to target: String, _ passphrase: SecretBuffer?, _ context: CommandContext) {
        let output: SecretOutput
        do {
            // Open the output before the request: a rejected path must not leave a ticket behind.
            output = try SecretOutput(target, context.console)
        } catch {
            context.fail(error)
            return
        }
        context.connect(orElse: { output.discard() }) { client in
            // From here on there is a file to clean up.
            context.onInterrupt {
                output.discard()
                context.finish(.interrupted)
            }
            client.exportAccount(passphrase: passphrase) { result in
                finish(result, output, isProtected: passphrase != nil, context)
            }
        }
    }

    private func finish(
        _ result: Result<SecretBuffer, ClientError>, _ output: SecretOutput, isProtected: Bool,
        _ context: CommandContext
    ) {
        do throws(CommandFailure) {
            let file: SecretBuffer
            do throws(ClientError) {
                file = try result.get()
            } catch {
                throw CommandFailure(error)
            }
            if !AccountFileHeader.isWhole(file.bytes) { throw .incompleteExport() }
            // A daemon without passphrase support would export the account unprotected.
            if isProtected, !AccountFileHeader.isProtected(file.bytes) { throw .exportInTheClear() }
            try output.write(file.bytes)
        } catch {
            output.discard()
            context.fail(error)
            return
        }
        let holder =
            isProtected ? "anyone who has this account file and its passphrase" : "anyone who has this account file"
        context.note("warning: \(holder) can join the account; it can be used only once, within 24 hours")
        if let path = output.path {
            context.show(["file": .string(path)], or: "exported to \(path)")
        }
        context.finish(.done)
    }
}

/// The header of an account file, as far as clients read it. The daemon validates the rest.
enum AccountFileHeader {
    private static let magic = Array("hndf-exp".utf8)
    /// The offset of the form (two bytes, big-endian), after the magic and the version.
    private static let formOffset = 10
    /// The form of a passphrase-protected file.
    private static let protected: [UInt8] = [0, 1]

    /// The offset of the content length (four bytes, big-endian).
    private static let lengthOffset = 12
    /// The number of bytes before the content plus those of the checksum after it.
    private static let around = 16 + 32

    /// Returns true if the file is complete. A daemon that exits during the export leaves a partial
    /// file.
    static func isWhole(_ file: [UInt8]) -> Bool {
        guard file.starts(with: magic), file.count >= around else { return false }
        let length = file.dropFirst(lengthOffset).prefix(4).reduce(0) { $0 << 8 | Int($1) }
        return file.count - around == length
    }

    /// Returns true if a passphrase is needed. False for anything else, which the daemon rejects.
    static func isProtected(_ file: [UInt8]) -> Bool {
        file.starts(with: magic) && Array(file.dropFirst(formOffset).prefix(2)) == protected
    }
}
