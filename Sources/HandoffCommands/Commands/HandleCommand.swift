import HandoffHandlers
import HandoffModel

/// `handle`: continues activities of some types here, as an app would.
package struct HandleCommand: Command {
    package static let specification = CommandSpecification(
        words: ["handle"], operands: "TYPE...", operandCount: 1...64,
        summary: "continue activities of these types here until interrupted",
        options: [
            OptionSpecification("--team", .value("ID"), "only activities of this team"),
            OptionSpecification("--exec", .value("COMMAND"), "run by /bin/sh -c for each activity"),
            OptionSpecification("--app", .value("ID"), "act for this app, which does not support Handoff itself"),
            OptionSpecification("--once", .flag, "take one activity, and end"),
            OptionSpecification("--downloads", .flag, "receive files into the folder for downloads"),
            OptionSpecification(
                "--open-with", .value("COMMAND"), "open the received page or file by this command (with %u or %f)"),
        ],
        details: """
            Prints what happens: willContinue, then continue with the payload, or didFail.
            COMMAND gets the activity as JSON on its standard input, and nothing of it in its arguments or its
            environment; status 0 means that it took the activity over. Without --exec every activity is taken over.
            When the daemon goes away, handling goes on as soon as it is back.
            With --downloads or --open-with one activity is taken, which has a file or a page for it; others are refused. The
            COMMAND of --open-with is one of a desktop entry, without a shell: a page takes the place of %u, the path of a
            received file that of %f. The folder for downloads is that of the desktop (xdg-user-dirs).
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
        let app = arguments.value("--app")
        if let app, AppID(app) == nil {
            throw .badValue(app, of: "--app", expected: "the id of an app", command: command)
        }
        var opener: ExecLine?
        if let text = arguments.value("--open-with") {
            opener = ExecLine(text)
            guard let opener, opener.takesPage || opener.takesFile, !opener.hasQuotedCode else {
                throw .badValue(
                    text, of: "--open-with", expected: "a command with %u or %f, not inside quotes", command: command)
            }
        }
        let receives = arguments.has("--downloads") || opener?.takesFile == true
        if shellCommand != nil, receives || opener != nil {
            throw .conflict("--exec", opener == nil ? "--downloads" : "--open-with", command: command)
        }
        request = HandleRequest(
            types: types, team: team, command: shellCommand, app: app ?? ProgramVersion.program,
            once: arguments.has("--once") || receives || opener != nil, receives: receives, opener: opener)
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
    /// What it attaches as.
    let app: String
    /// Whether it takes one activity, and ends.
    let once: Bool
    /// Whether files are received, into the folder for downloads.
    let receives: Bool
    /// What opens a page or a received file; nil for nothing.
    let opener: ExecLine?

    /// Whether pages and files are all that it takes.
    var opensOnly: Bool { receives || opener != nil }
}
