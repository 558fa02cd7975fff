import HandoffClient
import HandoffJSON
import LoopIO

/// `account export`: a file with which one more device can join.
package struct AccountExportCommand: Command {
    package static let specification = CommandSpecification(
        words: ["account", "export"], operands: "FILE|-", operandCount: 1...1,
        summary: "write a file with which one more device can join the account",
        details: """
            The file works once and for a day, and is a secret: whoever holds it can join the account. It is created
            with mode 0600, and an existing one is never overwritten. With - it goes to standard output, unless that
            is a terminal.
            """,
        example: "handoffctl account export - | ssh laptop handoffctl account import -")

    private static let warning =
        "whoever holds this account file can join the account; it works once and for a day"

    private let target: String

    package init(validating arguments: ParsedArguments) throws(UsageError) {
        target = try ArgumentValue.text(arguments.operands.first ?? "", option: "FILE")
    }

    package func run(in context: CommandContext) {
        let output: SecretOutput
        do {
            // Before the daemon is asked: a refused file must not leave a ticket behind.
            output = try SecretOutput(target, context.console)
        } catch {
            context.fail(error)
            return
        }
        context.connect(orElse: { output.discard() }) { client in
            client.exportAccount { result in finish(result, output, context) }
        }
    }

    private func finish(_ result: Result<SecretBuffer, ClientError>, _ output: SecretOutput, _ context: CommandContext)
    {
        do throws(CommandFailure) {
            let file: SecretBuffer
            do throws(ClientError) {
                file = try result.get()
            } catch {
                throw CommandFailure(error)
            }
            if file.bytes.isEmpty { throw .incompleteExport() }
            try output.write(file.bytes)
        } catch {
            output.discard()
            context.fail(error)
            return
        }
        context.note("warning: \(Self.warning)")
        if let path = output.path {
            if context.json {
                context.console.line(["file": .string(path)])
            } else {
                context.console.line("exported to \(path)")
            }
        }
        context.finish(.done)
    }
}
