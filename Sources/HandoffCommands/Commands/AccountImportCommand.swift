import HandoffClient
import HandoffJSON
import HandoffModel
import LoopIO

/// `account import`: joins the account that another device exported.
package struct AccountImportCommand: Command {
    package static let specification = CommandSpecification(
        words: ["account", "import"], operands: "FILE|-", operandCount: 1...1,
        summary: "join the account of a file that another device exported",
        details: "With - the file is read from standard input. It works once: delete it afterwards.",
        example: "handoffctl account import account.handoff")

    /// The largest account file, in bytes: more than the fullest roster needs.
    private static let largestFile = 16 * 1_048_576

    private let source: String

    package init(validating arguments: ParsedArguments) throws(UsageError) {
        source = try ArgumentValue.text(arguments.operands.first ?? "", option: "FILE")
    }

    package func run(in context: CommandContext) {
        let secret: SecretBuffer
        do {
            let file =
                source == "-"
                ? try LocalFile.readStandardInput(limit: Self.largestFile)
                : try LocalFile.read(source, limit: Self.largestFile)
            secret = SecretBuffer(file.bytes)
            if file.isReadableByOthers {
                context.note("warning: other users can read \(source), which is a secret")
            }
        } catch {
            context.fail(.file("read", source == "-" ? "standard input" : source, why: "\(error)"))
            return
        }
        context.connect { client in
            client.importAccount(secret) { result in
                switch result {
                case .success(.joined(let account)): show(account, context)
                case .success(.refused(let name, let message)):
                    context.fail(.importRefused(name: name, message: message))
                case .failure(let error): context.fail(CommandFailure(error))
                }
            }
        }
    }

    private func show(_ account: AccountID, _ context: CommandContext) {
        if context.json {
            context.console.line(["account": .string(account.hex)])
        } else {
            context.console.line("joined account \(account.grouped)")
        }
        context.finish(.done)
    }
}
