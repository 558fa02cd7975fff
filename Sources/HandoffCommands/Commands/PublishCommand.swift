import HandoffControl
import HandoffJSON
import HandoffModel

/// `publish`: offers an activity to the other devices for as long as the command runs.
package struct PublishCommand: Command {
    package static let specification = CommandSpecification(
        words: ["publish"], operands: "TYPE", operandCount: 1...1,
        summary: "offer an activity to the other devices until interrupted",
        options: [
            OptionSpecification("--title", .value("TEXT"), "what people see"),
            OptionSpecification("--user-info", .value("JSON|@FILE"), "the payload, an object in the tagged form"),
            OptionSpecification(
                "--stream", .value("FILE|FOLDER|-"), "what continuing devices may fetch; - is standard input, once"),
            OptionSpecification("--web-url", .value("URL"), "a page that shows the same, for devices without the app"),
            OptionSpecification("--team", .value("ID"), "only apps of this team may continue it"),
            OptionSpecification("--required", .values("KEY"), "a key of userInfo without which it cannot be continued"),
        ],
        details: """
            The activity becomes the current one. A file that is named by --user-info @FILE is read again whenever the
            daemon asks, so that what travels is what it says when another device continues the activity.
            Whatever --stream names is read when another device asks for it with 'handoffctl continue --output', each time
            anew; a file's transfer goes on where it was cut.
            Prints what happens: published, saved, continued, stream. When the daemon goes away, the activity is published
            again as soon as it is back. Ctrl-C withdraws the activity.
            """,
        example: "handoffctl publish com.example.editing --title Draft --user-info '{\"page\": 3}'")

    private let request: PublishRequest

    package init(validating arguments: ParsedArguments) throws(UsageError) {
        let command = Self.specification.name
        let type = try ArgumentValue.activityType(arguments.operands.first ?? "", command: command)
        var userInfo: UserInfoSource?
        if let text = arguments.value("--user-info") { userInfo = try UserInfoSource(text) }
        let webURL = arguments.value("--web-url")
        if let webURL, !WebURL.isAcceptable(webURL) {
            throw .badValue(webURL, of: "--web-url", expected: "a URL with http or https and a host", command: command)
        }
        let team = arguments.value("--team")
        if let team { _ = try ArgumentValue.text(team, option: "--team") }
        var stream: String?
        if let text = arguments.value("--stream") { stream = try ArgumentValue.text(text, option: "--stream") }
        request = PublishRequest(
            type: type, title: arguments.value("--title"), userInfo: userInfo, webpageURL: webURL, team: team,
            requiredKeys: arguments.all("--required"), stream: stream)
    }

    package func run(in context: CommandContext) {
        let session: PublishSession
        do {
            session = try PublishSession(request, context)
        } catch {
            context.fail(error)
            return
        }
        context.keep(session)
        session.start()
    }
}

/// What the user asked `publish` to offer.
struct PublishRequest {
    let type: ActivityType
    let title: String?
    let userInfo: UserInfoSource?
    let webpageURL: String?
    let team: String?
    let requiredKeys: [String]
    /// What is streamed to the devices that continue it: a path, or `-`.
    let stream: String?

    /// The activity as the daemon gets it. It asks to be saved, so that it travels as it is when it is continued.
    func description(userInfo: JSONObject?) -> ActivityDescription {
        var description = ActivityDescription(type: type.text)
        description.title = title
        description.userInfo = userInfo
        description.webpageURL = webpageURL
        description.team = team
        if !requiredKeys.isEmpty { description.requiredUserInfoKeys = requiredKeys }
        if stream != nil { description.supportsContinuationStreams = true }
        description.needsSave = true
        return description
    }
}
