import HandoffControl

/// `pause`: neither advertise nor receive, for a time or until `resume`.
package struct PauseCommand: Command {
    package static let specification = CommandSpecification(
        words: ["pause"], operands: "[DURATION]", operandCount: 0...1,
        summary: "neither offer activities to the other devices nor show theirs",
        options: [SwitchChange.deviceOption],
        details: """
            DURATION is a number with a unit (s, min, h, d), such as 30min or 1h30m; without it until: handoffctl resume.
            What was begun is completed. The device stays in its account, and the pause outlasts restarts.
            """,
        example: "handoffctl pause 2h")

    private let change: SwitchChange

    package init(validating arguments: ParsedArguments) throws(UsageError) {
        change = try SwitchChange(
            [.advertise: false, .receive: false], duration: arguments.operands.first, arguments,
            command: Self.specification.name)
    }

    package func run(in context: CommandContext) { change.run(in: context) }
}
