import HandoffControl

/// `resume`: advertise and receive again.
package struct ResumeCommand: Command {
    package static let specification = CommandSpecification(
        words: ["resume"], summary: "offer activities to the other devices again, and show theirs",
        options: [SwitchChange.deviceOption],
        details: "Ends pause, advertise off and receive off. What was switched off for one device alone stays off.",
        example: "handoffctl resume")

    private let change: SwitchChange

    package init(validating arguments: ParsedArguments) throws(UsageError) {
        change = try SwitchChange(
            [.advertise: true, .receive: true], duration: nil, arguments, command: Self.specification.name)
    }

    package func run(in context: CommandContext) { change.run(in: context) }
}
