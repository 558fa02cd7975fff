import HandoffHandlers
import HandoffModel
package import LoopIO

/// `handle`: continues activities of the given types here, as an app would.
package struct HandleCommand: Command {
    package static let specification = CommandSpecification(
        words: ["handle"], operands: [.several(.type, 1...64)],
        summary: "continue activities of these types here until interrupted",
        options: [
            OptionSpecification("--team", .value("ID"), "only activities of this team"),
            OptionSpecification("--exec", .value(.program), "run this command with /bin/sh -c for each activity"),
            OptionSpecification(
                "--app", .value("ID"), "act on behalf of this app, which does not support Handoff itself"),
            OptionSpecification("--once", .flag, "exit after one activity"),
            OptionSpecification("--downloads", .flag, "save received files in the downloads folder"),
            OptionSpecification(
                "--open-with", .value(.program), "open the received page or file with this command (with %u or %f)"),
        ],
        details: """
            Continues activities as an app would, and prints each event. If the daemon stops, handling resumes when it
            is back.

            COMMAND receives the activity on its standard input, as one line of the JSON that 'continue --print --json'
            prints. Its arguments and environment contain nothing of it: quote nothing, trust nothing, read it with a
            JSON parser. Exit status 0 means that COMMAND accepted the activity. Any other status makes the
            continuation fail. Without --exec, every activity is accepted and printed. The output of COMMAND is written
            to standard output, with --json to standard error. Without --team, only activities without a team match.

            With --downloads or --open-with, one activity with a file or page is accepted; others are refused. The
            downloads folder is that of the desktop (XDG_DOWNLOAD_DIR of user-dirs.dirs, otherwise ~/Downloads). If the
            user chose the file in a notification, a notification shows that it was saved, with 'Open' and 'Show in
            Folder', or why it was not. The COMMAND of --open-with is an Exec line as in a desktop entry, run without a
            shell: '%u' is replaced by the URL of a page, '%f' by the path of a received file. The daemon itself starts
            'handle --downloads' for offered files (the manifest dev.handoff1.files, 'Downloads'), and 'handle
            --open-with' for apps without Handoff support (docs/control-protocol.md, Apps).

            With --json:

              willContinue  continuation, type, device, deviceName, deviceKind, origin: the user chose an activity, and
                            its payload is being fetched
              continue      continuation, userInfo, origin, and the other fields of the activity: it has arrived
              didFail       continuation, type, failure (code, reason, message): it will not arrive
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

/// The validated arguments of `handle`.
struct HandleRequest: Equatable {
    /// The types to continue.
    let types: [ActivityType]
    let team: String?
    /// The command that `/bin/sh -c` runs for each activity; nil to only print it.
    let command: String?
    /// The app id to attach as.
    let app: String
    /// True to exit after one activity.
    let once: Bool
    /// True to receive files into the downloads folder.
    let receives: Bool
    /// The command that opens a page or a received file, if any.
    let opener: ExecLine?

    /// True if only pages and files are accepted.
    var opensOnly: Bool { receives || opener != nil }
}
