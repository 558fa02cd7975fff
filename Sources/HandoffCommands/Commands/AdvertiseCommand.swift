import HandoffControl

/// `advertise`: the switch of one direction.
package struct AdvertiseCommand: Command {
    package static let specification = CommandSpecification(
        words: ["advertise"], operands: "on|off [DURATION]", operandCount: 1...2,
        summary: "offer what is done here to the other devices, or not",
        options: [SwitchChange.deviceOption],
        details: """
            Off: what was on offer is withdrawn at once, and given to nobody any more.
            DURATION is a number with a unit (s, min, h, d), such as 30min or 1h30m; without it until it is switched on.
            What was begun is completed. The switch outlasts restarts.
            """,
        example: "handoffctl advertise off 1h")

    private let change: SwitchChange

    package init(validating arguments: ParsedArguments) throws(UsageError) {
        change = try SwitchChange(.advertise, arguments, command: Self.specification.name)
    }

    package func run(in context: CommandContext) { change.run(in: context) }
}
