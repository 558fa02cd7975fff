import HandoffControl
import HandoffJSON
import HandoffModel
import LoopIO

/// `publish`: offers an activity to the other devices for as long as the command runs.
package struct PublishCommand: Command {
    package static let specification = CommandSpecification(
        words: ["publish"], operands: "TYPE|URL|FILE|FOLDER|-", operandCount: 1...1,
        summary: "offer an activity, a page or a file to the other devices until interrupted",
        options: [
            OptionSpecification("--title", .value("TEXT"), "what people see"),
            OptionSpecification("--user-info", .value("JSON|@FILE"), "the payload: a JSON object"),
            OptionSpecification(
                "--stream", .value("FILE|FOLDER|-"), "what continuing devices may fetch; - is standard input, once"),
            OptionSpecification("--web-url", .value("URL"), "a page that shows the same, for devices without the app"),
            OptionSpecification("--team", .value("ID"), "only apps of this team may continue it"),
            OptionSpecification("--required", .values("KEY"), "a key of userInfo without which it cannot be continued"),
            OptionSpecification(
                "--to", .value("DEVICE"), "only this device is told of it: its name, or the beginning of its id"),
        ],
        details: """
            An address with http or https is offered as a page. What is a file or a folder here is offered with its content, for
            'handoffctl continue --output'; and - is standard input. Anything else is the type of an activity, such as
            com.example.editing, for the apps that continue that type.
            The activity becomes the current one. In the payload, values that JSON does not have are tagged, such as
            {"$date": 0} or {"$data": "AAE="} (docs/control-protocol.md, Numbers and text). A file that is named by
            --user-info @FILE is read again whenever the daemon asks, so that what travels is what it says when another
            device continues the activity.
            Whatever --stream names is read when another device asks for it with 'handoffctl continue --output', each time
            anew; a file's transfer goes on where it was cut.
            Prints what happens: published, saved, continued, stream. When the daemon goes away, the activity is published
            again as soon as it is back. Ctrl-C withdraws the activity.
            """,
        example: "handoffctl publish com.example.editing --title Draft --user-info '{\"page\": 3}'")

    private let request: PublishRequest

    package init(validating arguments: ParsedArguments) throws(UsageError) {
        let command = Self.specification.name
        let subject = try PublishSubject(arguments.operands.first ?? "", command: command)
        var userInfo: UserInfoSource?
        if let text = arguments.value("--user-info") { userInfo = try UserInfoSource(text) }
        let webURL = arguments.value("--web-url") ?? subject.page
        if let webURL, !WebURL.isAcceptable(webURL) {
            throw .badValue(webURL, of: "--web-url", expected: "a URL with http or https and a host", command: command)
        }
        let team = arguments.value("--team")
        if let team { _ = try ArgumentValue.text(team, option: "--team") }
        var stream = subject.content
        if let text = arguments.value("--stream") { stream = try ArgumentValue.text(text, option: "--stream") }
        var recipient: String?
        if let text = arguments.value("--to") { recipient = try ArgumentValue.text(text, option: "--to") }
        request = PublishRequest(
            type: subject.type, title: arguments.value("--title") ?? subject.title, userInfo: userInfo,
            webpageURL: webURL, team: team,
            requiredKeys: arguments.all("--required"), stream: stream.map { .path($0) },
            recipient: recipient, endsWhenTaken: false)
    }

    package func run(in context: CommandContext) { request.run(in: context) }
}

/// What the operand of `publish` names.
enum PublishSubject: Equatable {
    /// An activity of some app.
    case activity(ActivityType)
    /// A page, by its address.
    case page(String)
    /// A file or folder, by its path, or `-` for standard input.
    case content(String)

    /// Tells them apart by the text, and by what is there under this path.
    /// - Throws: `UsageError` for a text that is none of them.
    init(_ text: String, command: String) throws(UsageError) {
        if text.hasPrefix("http://") || text.hasPrefix("https://") {
            guard WebURL.isAcceptable(text) else {
                throw .badValue(text, of: "URL", expected: "a URL with http or https and a host", command: command)
            }
            self = .page(text)
        } else if text == "-" || text.contains("/") || PlainFile.version(at: text) != nil
            || FolderListing.isFolder(text)
        {
            // A path that leads nowhere is an error when it is opened, which names it.
            self = .content(text)
        } else {
            self = .activity(try ArgumentValue.activityType(text, command: command))
        }
    }

    var type: ActivityType {
        switch self {
        case .activity(let type): type
        case .page: .browsingWeb
        case .content: .content
        }
    }

    var page: String? { if case .page(let url) = self { url } else { nil } }

    var content: String? { if case .content(let path) = self { path } else { nil } }

    /// What people see unless they are told otherwise: the address, or the name of the file.
    var title: String? {
        switch self {
        case .activity: nil
        case .page(let url): url
        case .content(let path): path == "-" ? nil : path.split(separator: "/").last.map(String.init)
        }
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
    /// What is streamed to the devices that continue it; nil for nothing.
    let stream: PublishedContent?
    /// The one device that is told of it; nil for all.
    let recipient: String?
    /// Whether it is over once a device has taken it, with all that is streamed.
    let endsWhenTaken: Bool

    /// The activity as the daemon gets it. It asks to be saved, so that it travels as it is when it is continued.
    func description(userInfo: JSONObject?) -> ActivityDescription {
        var description = ActivityDescription(type: type.text)
        description.title = title
        description.userInfo = userInfo
        description.webpageURL = webpageURL
        description.team = team
        description.to = recipient
        if !requiredKeys.isEmpty { description.requiredUserInfoKeys = requiredKeys }
        if stream != nil { description.supportsContinuationStreams = true }
        description.needsSave = true
        // It ends with the command.
        description.expirationDate = ActivityDescription.neverExpires
        return description
    }

    /// Keeps it on offer for as long as the command runs.
    func run(in context: CommandContext) {
        let session: PublishSession
        do {
            session = try PublishSession(self, context)
        } catch {
            context.fail(error)
            return
        }
        context.keep(session)
        session.start()
    }
}
