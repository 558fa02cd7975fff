import HandoffControl
import HandoffJSON
import HandoffModel
import HandoffTransfer
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
        let subject = try PublishSubject(
            arguments.operands.first ?? "", mayBeActivity: true, command: command)
        var userInfo: UserInfoSource?
        if let text = arguments.value("--user-info") { userInfo = try UserInfoSource(text) }
        let webURL = arguments.value("--web-url") ?? subject.page
        if let webURL, let problem = WebURL.problem(of: webURL) {
            throw .notAPage(webURL, of: "--web-url", why: problem, command: command)
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

    /// Tells them apart by the text, and by what exists under this path. A file that is missing fails the command when it is
    /// opened, whatever its name looks like: what exists is no question of usage.
    /// - Throws: `UsageError` for a text that is none of them.
    init(_ text: String, mayBeActivity: Bool, command: String) throws(UsageError) {
        let exists = text == "-" || PlainFile.version(at: text) != nil || FolderListing.isFolder(text)
        if !exists, let scheme = Self.scheme(of: text) {
            let address = text.systemTextRepaired
            if scheme == "file" { throw .fileURL(address, command: command) }
            if let problem = WebURL.problem(of: address) {
                throw .notAPage(address, of: "URL", why: problem, command: command)
            }
            self = .page(address)
        } else if exists || !mayBeActivity || text.utf8.contains(UInt8(ascii: "/")) || Self.isNameOfFile(text) {
            self = .content(text)
        } else {
            self = .activity(try ArgumentValue.activityType(text, command: command))
        }
    }

    /// The scheme of an address, `SCHEME://…`, in lower case; nil when the text is none.
    private static func scheme(of text: String) -> String? {
        let scheme = text.utf8.prefix { $0 != UInt8(ascii: ":") }
        guard text.utf8.dropFirst(scheme.count).starts(with: "://".utf8) else { return nil }
        let isScheme = scheme.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."): true
            default: false
            }
        }
        return isScheme && !scheme.isEmpty ? String(Substring(scheme)).lowercased() : nil
    }

    /// True if a text without slashes ends like the name of a file, and does not begin like a domain that is turned round.
    private static func isNameOfFile(_ text: String) -> Bool {
        let parts = text.lowercased().utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
            .map { String(Substring($0)) }
        guard parts.count > 1, let first = parts.first, let last = parts.last, fileExtensions.contains(last) else {
            return false
        }
        return parts.count == 2 || !(domains.contains(first) || first.utf8.count == 2)
    }

    /// Usual extensions. A text that ends with another one is taken for a type, with a word of advice where it has few parts.
    private static let fileExtensions: Set<String> = [
        "7z", "avi", "avif", "bmp", "bz2", "c", "conf", "cpp", "css", "csv", "deb", "doc", "docx", "epub", "flac",
        "gif", "gz", "h", "heic", "htm", "html", "iso", "jpeg", "jpg", "js", "json", "key", "log", "m4a", "md",
        "mkv", "mov", "mp3", "mp4", "odp", "ods", "odt", "ogg", "pdf", "png", "ppt", "pptx", "py", "rar", "rpm",
        "rtf", "sh", "svg", "swift", "tar", "tex", "tgz", "tif", "tiff", "txt", "wav", "webm", "webp", "xls",
        "xlsx", "xml", "xz", "yaml", "yml", "zip", "zst",
    ]
    /// Domains of the top with more than two letters in which types are often named.
    private static let domains: Set<String> = ["app", "com", "dev", "edu", "gov", "net", "org"]

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
        case .page(let url):
            // An address may be longer than a title.
            url.utf8.count > Limits.title ? url.prefix(utf8Count: Limits.title - "…".utf8.count) + "…" : url
        case .content(let path): path == "-" ? nil : SourceFile.name(of: path)
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
        do throws(CommandFailure) {
            let session = try SendSession([self], context)
            context.keep(session)
            session.start()
        } catch {
            context.fail(error)
        }
    }
}
