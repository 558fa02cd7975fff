import HandoffModel

/// `handle`: continues activities of some types here, as an app would.
package struct HandleCommand: Command {
    package static let specification = CommandSpecification(
        words: ["handle"], operands: "TYPE...", operandCount: 1...64,
        summary: "continue activities of these types here until interrupted",
        options: [
            OptionSpecification("--team", .value("ID"), "only activities of this team"),
            OptionSpecification("--exec", .value("COMMAND"), "run by /bin/sh -c for each activity"),
        ],
        details: """
            Prints what happens: willContinue, then continue with the payload, or didFail.
            COMMAND gets the activity as JSON on its standard input, and nothing of it in its arguments or its
            environment; status 0 means that it took the activity over. Without --exec every activity is taken over.
            When the daemon goes away, handling goes on as soon as it is back.
            """,
        example: "handoffctl handle com.example.editing --exec 'jq -r .title >> titles.txt'")

    private let request: HandleRequest

    package init(validating arguments: ParsedArguments) throws(UsageError) {
        let command = Self.specification.name
        var types: [ActivityType] = []
        for operand in arguments.operands {
            types.append(try ArgumentValue.activityType(operand, command: command))
        }
        let team = arguments.value("--team")
        if let team { _ = try ArgumentValue.text(team, option: "--team") }
        let shellCommand = arguments.value("--exec")
        if let shellCommand { _ = try ArgumentValue.text(shellCommand, option: "--exec") }
        request = HandleRequest(types: types, team: team, command: shellCommand)
    }

    package func run(in context: CommandContext) {
        let session = HandleSession(request, context)
        context.keep(session)
        session.start()
    }
}

/// What the user asked `handle` to do.
struct HandleRequest: Equatable {
    /// The types that are continued here.
    let types: [ActivityType]
    let team: String?
    /// What `/bin/sh -c` runs for each activity; nil when printing it is all.
    let command: String?
}
