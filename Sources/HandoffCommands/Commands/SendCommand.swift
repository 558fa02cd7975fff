import HandoffClient
import HandoffControl
import HandoffJSON
import HandoffModel
import HandoffTransfer
package import LoopIO

/// `send`: offers pages or files to one or several devices until they have accepted them.
package struct SendCommand: Command {
    package static let specification = CommandSpecification(
        words: ["send"], operands: [.one(.otherDevice), .several(.item, 0...maxOperands)],
        summary: "send pages, files, folders or text to your devices",
        options: [
            OptionSpecification("--to", .values(.otherDevice), "also send to this device (name or id prefix)"),
            OptionSpecification("--text", .value("TEXT"), "send this text, which can be copied on the device"),
            OptionSpecification("--title", .value("TEXT"), "the title shown on the device, if one item is sent"),
            OptionSpecification(
                "--files0-from", .value(.fileOrStream), "also send the files in this list of NUL-terminated paths"),
            OptionSpecification(
                "--keep", .flag, "let other devices deliver items of up to 2 MiB while this one is asleep or off"),
            OptionSpecification("--wait", .flag, "store the items for delivery in the background, and exit"),
        ],
        details: """
            Sends items to DEVICE, given by its name or an id prefix, and to the devices of --to. Only these devices are
            notified. Each device shows a notification ('desk sent you report.pdf') and lists the items. An item is
            transferred only after it is accepted on the device. A page then opens in the browser, and a file is saved
            in the downloads folder. With 'handoffctl continue --output' it is saved in another folder. Several items
            share one notification, in their order. Each item is a separate activity, which handoffctl continue can
            continue individually. If a device is offline or asleep, a message on standard error reports this. The items
            are offered when the device is online, as long as the command is running.

            If there are more than 32 items, all files and folders are sent together as one folder, such as '500
            files', which is accepted and resumed as one item. Files with the same name are numbered. A file that can no
            longer be read when it is sent is omitted and reported on both devices.

            Exits with status 0 when all items have been accepted and all streamed content has been received. Exits with
            status 1 and the error Declined if 'Decline' is chosen on the device. If a transfer is cancelled there, the
            item is still offered, and the transfer can be resumed there. Ctrl-C withdraws the rest.

            With --wait, the command exits, and handoff-deliver.service ('handoffctl deliver') offers the items until
            they are accepted, declined or withdrawn. The service starts again at the next login. handoffctl list --mine
            shows the items. At most 64 items can wait. There is no time limit. Only the paths of files are stored. A
            file or folder is sent with the content that it has when it is accepted. If an item is declined, its file is
            deleted, or its device is removed from the account, the item stays in the list with the reason until it is
            withdrawn.

            With --keep, the other devices keep text, pages and files for DEVICE, for 24 hours, and deliver them while
            this device is asleep or off. The items are sealed: only DEVICE can read them. Up to 2 MiB can be kept at a
            time, less in accounts with more than three devices. An item that does not fit is reported with the present
            limit, and waits until both devices are awake. Folders and standard input are not kept.

            The beginning of a text is used as its title. 'Copy' in the notification copies the text and shows it in a
            window. A text of more than 16 KiB is sent as the file Text.txt. Other users of this machine can read
            command-line arguments. To send a secret, use '-' to read it from standard input. It has no visible title.

            With --json: the events of handoffctl publish. There is one published event for each activity, in the order
            of the items, first for DEVICE and then for each --to. notKept (message) precedes the wait of an item that
            --keep cannot keep. With --wait: waiting (title, device, deviceName) for each item.
            """,
        example: "handoffctl send laptop ./report.pdf")

    /// The maximum number of items, besides a text, that are separate activities.
    private static let maxSeparate = 32
    static let maxOperands = 1_000_000
    /// The maximum size of the list of files, in bytes.
    private static let maxList = 1 << 28

    /// The maximum number of characters of a text that are used as its title.
    private static let maxTitle = 60

    /// The recipients, by names or prefixes of their ids.
    private let devices: [String]
    private let title: String?
    private let text: String?
    private let items: [PublishSubject]
    /// The file with additional paths, if any.
    private let list: String?
    private let waits: Bool
    private let keeps: Bool

    package init(validating arguments: ParsedArguments) throws(UsageError) {
        let command = Self.specification.name
        let device = try ArgumentValue.text(arguments.operands.first ?? "", option: "DEVICE")
        devices =
            try [device]
            + arguments.all("--to").map { (text) throws(UsageError) in try ArgumentValue.text(text, option: "--to") }
        title = arguments.value("--title")
        let texts = arguments.operands.dropFirst()
        list = arguments.value("--files0-from")
        text = try arguments.value("--text").map { (text) throws(UsageError) in
            try ArgumentValue.text(text, option: "--text")
        }
        if let list { _ = try ArgumentValue.text(list, option: "--files0-from") }
        let count = texts.count + (text == nil ? 0 : 1)
        if count == 0, list == nil { throw .missingOperand(Self.specification) }
        let inputs = texts.count { $0 == "-" } + (list == "-" ? 1 : 0)
        waits = arguments.has("--wait")
        keeps = arguments.has("--keep")
        if waits, texts.contains("-") { throw .conflict("--wait", "-", command: command) }
        // Standard input can be sent once.
        if devices.count > 1, texts.contains("-") { throw .conflict("--to", "-", command: command) }
        if inputs > 1 { throw .conflict("-", "another -", command: command) }
        items = try texts.map { (text) throws(UsageError) in
            try PublishSubject(
                try ArgumentValue.text(text, option: "item to send"), mayBeActivity: false, command: command)
        }
        _ = try requests(listed: [])
    }

    /// Returns a request for each activity, for the first device.
    /// - Parameter listed: The additional paths.
    private func requests(listed: [String]) throws(UsageError) -> [PublishRequest] {
        var requests: [PublishRequest] = []
        func add(_ type: ActivityType, _ shown: String?, page: String? = nil, _ stream: PublishedContent?) {
            requests.append(
                PublishRequest(
                    type: type, title: title ?? shown, userInfo: nil, webpageURL: page, team: nil, requiredKeys: [],
                    stream: stream, recipient: devices[0], keep: keeps ? true : nil, endsWhenAccepted: true))
        }
        if let text {
            let content = PublishedContent.text(text)
            add(content.type, Self.beginning(of: text), content)
        }
        let items = self.items + listed.map { .content($0) }
        let isTogether = items.count > Self.maxSeparate
        for item in items where !isTogether || !item.isFile {
            add(item.type, item.title, page: item.page, item.content.map { .path($0) })
        }
        let paths = isTogether ? items.filter(\.isFile).compactMap(\.content) : []
        if !paths.isEmpty {
            let name = "\(paths.count) \(paths.contains(where: FolderListing.isFolder) ? "items" : "files")"
            add(.content, name, .paths(paths, name: name))
        }
        if title != nil, requests.count > 1 {
            throw .conflict("--title", "several items", command: Self.specification.name)
        }
        guard requests.count - (text == nil ? 0 : 1) <= Self.maxSeparate else {
            throw .malformed(
                "items", why: "at most \(Self.maxSeparate) pages can be sent together", command: Self.specification.name
            )
        }
        return requests
    }

    /// Returns the first non-blank line of a text, truncated to the length of a title.
    private static func beginning(of text: String) -> String? {
        let lines = text.split(whereSeparator: \.isNewline).lazy.map { CommandContext.trimmed(String($0)) }
        guard let line = lines.first(where: { !$0.isEmpty }) else { return nil }
        return line.count > maxTitle ? line.prefix(maxTitle) + "…" : line
    }

    package func run(in context: CommandContext) {
        do throws(CommandFailure) {
            let requests = try self.requests(in: context)
            guard waits || devices.count > 1 else { return try Self.offer(requests, in: context) }
            context.withDevices { [devices, waits] (client, known) throws(CommandFailure) in
                var recipients: [ControlDevice] = []
                for device in devices {
                    let found = try DeviceChoice.find(device, in: known)
                    guard !found.isSelf else { throw .noSuchDevice(device) }
                    if !recipients.contains(where: { $0.id == found.id }) { recipients.append(found) }
                }
                if waits { return try Self.keep(requests, for: recipients, of: known, client, in: context) }
                let all = recipients.flatMap { recipient in
                    requests.map { request in
                        var request = request
                        request.recipient = recipient.id.hex
                        return request
                    }
                }
                try Self.offer(all, in: context)
            }
        } catch {
            context.fail(error)
        }
    }

    private static func offer(_ requests: [PublishRequest], in context: CommandContext) throws(CommandFailure) {
        let session = try SendSession(requests, context)
        context.keep(session)
        session.start()
    }

    /// Stores the requests, and starts the service that offers them.
    private static func keep(
        _ requests: [PublishRequest], for recipients: [ControlDevice], of devices: [ControlDevice],
        _ client: ControlClient, in context: CommandContext
    ) throws(CommandFailure) {
        var items: [(item: WaitingItem, recipient: ControlDevice)] = []
        for recipient in recipients {
            for request in requests { items.append((try WaitingItem(request, to: recipient.id), recipient)) }
        }
        context.withWaitingFolder(client) { [items] (folder) throws(CommandFailure) in
            try folder.add(items.map(\.item))
            for (item, recipient) in items {
                let name = DeviceText(devices).label(recipient.id)
                context.show(
                    [
                        "event": "waiting", "title": item.title.map { .string($0) } ?? .null,
                        "device": .string(recipient.id.hex), "deviceName": .string(recipient.name),
                    ], or: "waiting    \(VisibleText.escape(item.title ?? "an item")) for \(name)")
            }
            startService(in: context)
        }
    }

    private static func startService(in context: CommandContext) {
        let service = "handoff-deliver.service"
        func ended(_ status: Int32) {
            if status != 0 {
                context.note("\(service) cannot be started", remedy: "offer the items with: handoffctl deliver")
            }
            context.finish(.done)
        }
        do throws(Errno) {
            // Has no effect if the service is running, because it watches the folder.
            let command = try ShellCommand(
                "systemctl --user --no-block start \(service) 2>/dev/null", input: [], output: .standardError)
            try command.wait(on: context.loop, ended)
        } catch {
            ended(-1)
        }
    }

    private func requests(in context: CommandContext) throws(CommandFailure) -> [PublishRequest] {
        let listed = try list.map { (list) throws(CommandFailure) in try Self.paths(in: list) } ?? []
        let requests: [PublishRequest]
        do throws(UsageError) {
            requests = try self.requests(listed: listed)
        } catch {
            throw CommandFailure(error)
        }
        guard !requests.isEmpty else { throw .file("send the files in", list ?? "", why: "it contains no path") }
        for case .paths(let paths, _)? in requests.map(\.stream) {
            do throws(TransferFailure) {
                // Fail if a file is already missing. Only a file that disappears later is omitted.
                for path in paths { _ = try SourceFile(path) }
            } catch {
                throw .transfer(error)
            }
        }
        return requests
    }

    /// Returns the paths in a list, each of which is followed by a NUL, or `-` for standard input.
    private static func paths(in list: String) throws(CommandFailure) -> [String] {
        do throws(Errno) {
            let file =
                list == "-"
                ? try LocalFile.readStandardInput(limit: maxList) : try LocalFile.read(list, limit: maxList)
            return file.bytes.split(separator: 0).map { String(systemBytes: $0) }
        } catch {
            throw .file("read", list, why: "\(error)")
        }
    }
}

/// Keeps one or several items on offer until all have ended. Each is its own activity, so that the
/// recipient can accept any of them. All share one attachment.
final class SendSession {
    private let context: CommandContext
    private let attachment: AppAttachment
    private var sessions: [PublishSession] = []
    private var left: Int
    /// The most recent failure of an item.
    private var failure: CommandFailure?

    /// - Throws: `CommandFailure` if an item cannot be read; then nothing is offered.
    init(_ requests: [PublishRequest], _ context: CommandContext) throws(CommandFailure) {
        self.context = context
        attachment = AppAttachment(
            path: context.socketPath, loop: context.loop,
            app: AttachRequest(
                app: ProgramVersion.program, version: ProgramVersion.number, team: requests.first?.team))
        left = requests.count
        var recipients: Set<String?> = []
        for request in requests {
            let isFirst = recipients.insert(request.recipient).inserted
            let session = try PublishSession(
                request, context, attachment: attachment, reportsObstacles: isFirst
            ) { [weak self] in self?.oneIsOver($0) }
            sessions.append(session)
        }
    }

    /// Offers all items.
    func start() {
        context.onInterrupt { [unowned self] in
            for session in sessions { session.interrupted() }
        }
        for session in sessions { session.prepare() }
        // Weak, and retained for the whole report: a failure ends the command, which releases the
        // session.
        attachment.start { [weak self] report in
            guard let self else { return }
            switch report {
            case .lost: context.noteDaemonStopped()
            case .notDeclared(let error), .failed(let error): context.fail(CommandFailure(error))
            case .attached, .event: break
            }
            for session in sessions { session.received(report) }
        }
    }

    private func oneIsOver(_ failure: CommandFailure?) {
        left -= 1
        if let failure {
            if let former = self.failure { context.note(former.message) }
            self.failure = failure
        }
        guard left == 0 else { return }
        self.failure.map(context.fail) ?? context.finish(.done)
    }
}
