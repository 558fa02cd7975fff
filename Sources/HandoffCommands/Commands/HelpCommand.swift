/// `help`: the overview, or one command.
package struct HelpCommand: Command {
    package static let specification = CommandSpecification(
        words: ["help"], operands: "[COMMAND]", operandCount: 0...2, summary: "explain a command",
        example: "handoffctl help publish")

    private let text: String

    package init(validating arguments: ParsedArguments) throws(UsageError) {
        text = try HelpText.text(for: arguments.operands)
    }

    package func run(in context: CommandContext) {
        context.console.write(text)
        context.finish(.done)
    }
}
