package import LoopIO

/// `open`: an alias of `continue`.
package struct OpenCommand: Command {
    package static let specification = CommandSpecification(
        words: ["open"], operands: ContinueCommand.specification.operands,
        summary: "the same as continue", options: ContinueCommand.specification.options,
        details: "See: handoffctl help continue", example: "handoffctl open")

    private let command: ContinueCommand

    package init(validating arguments: ParsedArguments) throws(UsageError) {
        command = try ContinueCommand(validating: arguments)
    }

    package func run(in context: CommandContext) { command.run(in: context) }
}
