import HandoffControl

/// `receive`: the switch of one direction.
package struct ReceiveCommand: Command {
    package static let specification = CommandSpecification(
        words: ["receive"], operands: "on|off [DURATION]", operandCount: 1...2,
        summary: "show what the other devices offer and continue it here, or not",
        options: [SwitchChange.deviceOption],
        details: """
            Off: list and watch show nothing, and continue says why.
            DURATION is a number with a unit (s, min, h, d), such as 30min or 1h30m; without it until it is switched on.
            What was begun is completed. The switch outlasts restarts.
            """,
        example: "handoffctl receive off 1h")

    private let change: SwitchChange

    package init(validating arguments: ParsedArguments) throws(UsageError) {
        change = try SwitchChange(.receive, arguments, command: Self.specification.name)
    }

    package func run(in context: CommandContext) { change.run(in: context) }
}
