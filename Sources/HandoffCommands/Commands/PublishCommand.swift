import HandoffControl
import HandoffJSON
import HandoffModel
package import LoopIO

/// `publish`: offers an activity to the other devices while the command runs.
package struct PublishCommand: Command {
    package static let specification = CommandSpecification(
        words: ["publish"], operands: [.optional(.offered)],
        summary: "offer an activity, a page or a file to the other devices until interrupted",
        options: [
            OptionSpecification("--title", .value("TEXT"), "the title shown on other devices"),
            OptionSpecification("--user-info", .value(.payload), "the payload: a JSON object"),
            OptionSpecification(
                "--stream", .value(.content), "content for devices that continue it; - is standard input, once"),
            OptionSpecification(
                "--web-url", .value("URL"), "a page with the same content, for devices without the app"),
            OptionSpecification("--team", .value("ID"), "allow only apps of this team to continue it"),
            OptionSpecification("--required", .values("KEY"), "a userInfo key that must be present to continue it"),
            OptionSpecification("--to", .value(.otherDevice), "offer it only to this device (name or id prefix)"),
            OptionSpecification(
                "--keep", .flag, "let other devices continue it for 24 hours after the command has ended"),
            OptionSpecification("--no-keep", .flag, "no other device keeps a copy while this one is asleep or off"),
            OptionSpecification("--git", .flag, "offer the branch and uncommitted work of a checkout"),
            OptionSpecification("--untracked", .flag, "with --git: also the untracked files"),
            OptionSpecification("--session", .value("tmux:NAME"), "offer a live session of tmux"),
            OptionSpecification("--read-only", .flag, "with --session: other devices cannot type"),
        ],
        details: """
            An http or https URL is offered as a page (NSUserActivityTypeBrowsingWeb). An existing file or folder is
            offered with its content, as dev.handoff1.content, for handoffctl continue --output, and so is standard
            input (-). Anything else is an activity type, such as com.example.editing, for the apps that continue that
            type. The activity becomes the current one. If no device receives the offer, for example while Handoff is
            paused, a message on standard error states the reason. Ctrl-C withdraws the activity, and the exit status
            is 0.

            In the payload, values that JSON does not have are tagged, such as {"$date": 0} or {"$data": "AAE="}
            (docs/control-protocol.md, Numbers and text). The file of --user-info @FILE is re-read when another device
            continues the activity, so that its current content is sent. A pipe is read once. For a payload above 3
            KiB, a message on standard error advises against it. A payload above the daemon's limit (64 KiB unless
            configured otherwise) is offered with a warning: continuing it fails with code 4611. A payload above 960
            KiB is refused with InvalidActivity, code 4611.

            A file URL in the payload ({"$url": "file:///…"}) is sent as the URL of the document (handoffctl document).
            Other devices find it in a shared folder or a checkout, or fetch it while the command runs. Local paths are
            not sent.

            While this device is asleep or off, the others can continue the activity from a copy of its payload, unless
            --no-keep is given. With --keep they also can after the command has ended, for 24 hours, or until
            'handoffctl withdraw ID'. They keep no FILE and no FOLDER, because these are only streamed.

            The files and folders of --stream are opened again for each device that fetches them, and several devices
            can fetch at the same time. Standard input can be fetched once. Links, devices and pipes in a folder are
            omitted. A file that was changed while it was sent is refused by the receiving device. If the daemon stops
            before a transfer has started, the other device requests it again. An interrupted file transfer resumes at
            the same position. On a terminal the last line shows the progress.

            When the daemon is back after it stopped, the activity is published again with a new id, and another
            published is printed. If the daemon is offline at the start, the exit status is 3.

            --git is handoff-git publish, for the checkout in the current or another folder. --session is
            handoff-terminal share. Their manual pages describe them; other devices continue both as any offer.

            With --json:

              published  id, type, title: it is offered
              saved      id: the daemon requested and received the state
              continued  id, type, title, device, deviceName, deviceKind: a device continued it; at, the time in seconds
                         since 1970, if it did so while this device was asleep or off
              declined   id, type, title, device, deviceName, deviceKind: the user of the device that it was sent to
                         declined it
              stream     id, stream, state (started, then finished or failed), device, deviceName, deviceKind; started
                         has name, size, from; finished has bytes (of a folder those of its files), and missing if
                         entries of a folder were omitted; failed has reason, message: a device fetches the content of
                         --stream or a document
              progress   id, stream, device, sent, total: about once a second, the bytes of the files sent so far, and of
                         all files (null if a folder is sent)
            """,
        example: "handoffctl publish com.example.editing --title Draft --user-info '{\"page\": 3}'")

    private enum Action {
        case offer(PublishRequest)
        case run(PublishingProgram)
    }

    private let action: Action

    package init(validating arguments: ParsedArguments) throws(UsageError) {
        let command = Self.specification.name
        if let program = try PublishingProgram(arguments) {
            action = .run(program)
            return
        }
        guard let operand = arguments.operands.first else {
            throw .missing("TYPE|URL|FILE|FOLDER|-, --git or --session", for: "'publish'", command: command)
        }
        let subject = try PublishSubject(operand, mayBeActivity: true, command: command)
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
        if arguments.has("--keep"), arguments.has("--no-keep") {
            throw .conflict("--keep", "--no-keep", command: command)
        }
        if arguments.has("--keep"), subject.content != nil, recipient == nil {
            throw .conflict("FILE", "--keep without --to", command: command)
        }
        // Without this device, no other one has the content.
        let isKeptBack = arguments.has("--no-keep") || subject.content != nil
        let keep = arguments.has("--keep") ? true : isKeptBack ? false : nil
        action = .offer(
            PublishRequest(
                type: subject.type, title: arguments.value("--title") ?? subject.title, userInfo: userInfo,
                webpageURL: webURL, team: team,
                requiredKeys: arguments.all("--required"), stream: stream.map { .path($0) },
                recipient: recipient, keep: keep, endsWhenAccepted: false))
    }

    package func run(in context: CommandContext) {
        switch action {
        case .offer(let request): request.run(in: context)
        case .run(let program): program.run(in: context)
        }
    }
}

/// The validated arguments of `publish`.
struct PublishRequest {
    let type: ActivityType
    let title: String?
    let userInfo: UserInfoSource?
    let webpageURL: String?
    let team: String?
    let requiredKeys: [String]
    /// The content streamed to devices that continue the activity, if any.
    let stream: PublishedContent?
    /// The only device that the activity is offered to; nil for all.
    var recipient: String?
    /// True if the activity stays available after the command; false if no device may keep a copy.
    var keep: Bool?
    /// True to end once a device has accepted the activity and received all of its content.
    let endsWhenAccepted: Bool
    /// The item that waits for its device; nil for an activity that ends with the command.
    var waiting: WaitingItem?
    /// The content that the payload names as document 0; nil if the documents are files.
    var document: PublishedContent?
    /// When the activity expires and the command ends, in seconds since 2001-01-01 UTC; nil for an
    /// activity that lasts as long as the command.
    var expirationDate: Double?

    /// True if the copies contain a file in place of a stream.
    var isStreamKept: Bool { keep == true && recipient != nil && stream.map { $0.payloadText == nil } ?? false }

    /// Returns the activity as sent to the daemon. It requests saves, so that its current state is
    /// sent when it is continued.
    func description(userInfo: JSONObject?) -> ActivityDescription {
        var description = ActivityDescription(type: type.text)
        description.title = title
        description.userInfo = userInfo
        description.webpageURL = webpageURL
        description.team = team
        description.to = recipient
        description.keep = keep
        if !requiredKeys.isEmpty { description.requiredUserInfoKeys = requiredKeys }
        if let text = stream?.payloadText {
            description.userInfo = ["text": .string(text)]
        } else if stream != nil {
            description.supportsContinuationStreams = true
        }
        // Without its content, a copy is of no use.
        if isStreamKept, stream?.keptFile == nil { description.keep = false }
        if document != nil { description.supportsContinuationStreams = true }
        description.needsSave = true
        description.expirationDate = expirationDate ?? ActivityDescription.neverExpires
        return description
    }

    /// Offers the activity while the command runs.
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
