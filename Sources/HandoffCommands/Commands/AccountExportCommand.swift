import HandoffClient
import HandoffJSON
import LoopIO

/// `account export`: a file with which one more device can join.
package struct AccountExportCommand: Command {
    package static let specification = CommandSpecification(
        words: ["account", "export"], operands: "FILE|-", operandCount: 0...1,
        summary: "write a file with which one more device can join the account",
        options: [
            OptionSpecification("--passphrase", .flag, "protect the file by a passphrase, which is asked for"),
            OptionSpecification("--passphrase-file", .value("FILE"), "protect it by the first line of this file"),
            OptionSpecification("--revoke", .value("TICKET"), "instead: close the ticket of a file that was exported"),
        ],
        details: """
            The file works once, within 24 hours, and is a secret: whoever holds it can join the account. It holds no
            account key, so it stays valid when the account key changes. Only devices that are in the account now can
            let the new one in; one of them has to be in reach. The file is created with mode 0600, and an existing one
            is never overwritten. With - it goes to standard output, unless that is a terminal. A passphrase is never an
            argument or a variable: other programs can read those.
            With --revoke nobody can join with the file any more; handoffctl account show lists the open tickets.
            """,
        example: "handoffctl account export - | ssh laptop handoffctl account import -")

    private enum Task {
        case export(to: String, PassphraseSource)
        case revoke(ticket: String)
    }

    /// Hexadecimal digits of a ticket's id, at most.
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
            context.show(["revoked": .string(ticket)], or: "revoked \(ticket): nobody can join with that file any more")
        }
    }

    private func export(to target: String, _ passphrase: SecretBuffer?, _ context: CommandContext) {
        let output: SecretOutput
        do {
            // Before the daemon is asked: a refused file must not leave a ticket behind.
            output = try SecretOutput(target, context.console)
        } catch {
            context.fail(error)
            return
        }
        context.connect(orElse: { output.discard() }) { client in
            // From here on there is something to clean up.
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
            // A daemon that knows nothing of passphrases would write the account in the clear.
            if isProtected, !AccountFileHeader.isProtected(file.bytes) { throw .exportInTheClear() }
            try output.write(file.bytes)
        } catch {
            output.discard()
            context.fail(error)
            return
        }
        let whoever =
            isProtected ? "whoever holds this account file and knows its passphrase" : "whoever holds this account file"
        context.note("warning: \(whoever) can join the account; it works once, within 24 hours")
        if let path = output.path {
            context.show(["file": .string(path)], or: "exported to \(path)")
        }
        context.finish(.done)
    }
}

/// The beginning of an account file, as far as a client reads it: the rest is for the daemon.
enum AccountFileHeader {
    private static let magic = Array("hndf-exp".utf8)
    /// Where the form stands, two bytes big-endian: after the magic and the version.
    private static let formOffset = 10
    /// The form of a file that is protected by a passphrase.
    private static let protected: [UInt8] = [0, 1]

    /// Where the length of the content stands, four bytes big-endian.
    private static let lengthOffset = 12
    /// Bytes before the content, and of the checksum behind it.
    private static let around = 16 + 32

    /// Whether this is a whole account file: a daemon that ends while it sends one leaves a part of it.
    static func isWhole(_ file: [UInt8]) -> Bool {
        guard file.starts(with: magic), file.count >= around else { return false }
        let length = file.dropFirst(lengthOffset).prefix(4).reduce(0) { $0 << 8 | Int($1) }
        return file.count - around == length
    }

    /// Whether a passphrase is needed. Not for what is no account file, which the daemon refuses.
    static func isProtected(_ file: [UInt8]) -> Bool {
        file.starts(with: magic) && Array(file.dropFirst(formOffset).prefix(2)) == protected
    }
}
