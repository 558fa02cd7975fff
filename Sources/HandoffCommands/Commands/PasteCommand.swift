import HandoffClient
import HandoffControl
import HandoffDocuments
import HandoffJSON
import HandoffModel
import HandoffTransfer
package import LoopIO

/// `paste`: prints the clipboard of another device.
package struct PasteCommand: Command {
    package static let specification = CommandSpecification(
        words: ["paste"],
        summary: "print the newest clipboard of the other devices",
        options: [
            OptionSpecification(
                "--from", .value(.otherDevice), "print only the clipboard of this device (name or id prefix)"),
            OptionSpecification("--type", .value(.format), "the format to print (default: the first available one)"),
        ],
        details: """
            Prints the content that handoffctl copy, or a desktop with a shared clipboard, offers on another device.
            The command requests the content from that device. It prints the content unchanged. On a terminal, control
            characters are printed as escapes. Exit status 4 means that no device offers a clipboard. This is the case
            if the content was copied more than two minutes ago, or if sharing is off on the other devices.

            FORMAT is text/plain, text/html, text/uri-list, image/png, image/jpeg, image/svg+xml, image/webp or
            image/gif. This is also the order of preference. For text/uri-list, the path of each file on this device is
            printed. A file that is not in a shared folder or a checkout is fetched into a private folder in the user's
            cache, and deleted 14 days later. A message on standard error lists the entries of a folder that are
            omitted, such as links.

            With --json:

              text   type, device, deviceName, text. A text of more than 16 KiB and an image are printed unchanged, with
                     the events of handoffctl continue --output on standard error
              files  type, device, deviceName, paths
            """,
        example: "handoffctl paste --from laptop")

    private let device: String?
    private let format: ClipboardFormat?

    package init(validating arguments: ParsedArguments) throws(UsageError) {
        device = try arguments.value("--from").map { (text) throws(UsageError) in
            try ArgumentValue.text(text, option: "--from")
        }
        format = try arguments.value("--type").map { (text) throws(UsageError) in
            guard let format = ClipboardFormat(rawValue: text) else {
                throw .badValue(
                    text, of: "--type", expected: "a format of clipboard content", command: Self.specification.name)
            }
            return format
        }
    }

    package func run(in context: CommandContext) {
        let request = ContinueRequest(type: ActivityType.clipboard.text, from: device, take: true)
        context.connect { client in
            client.continueActivity(request) { result in
                switch result {
                case .success(.willContinue): break
                case .success(.continued(_, let activity?, _, let continuation?, _)):
                    let session = PasteSession(activity, continuation, context)
                    context.keep(session)
                    session.start(format)
                case .success(.continued):
                    context.fail(CommandFailure(.badAnswer("the continued reply has no activity or no continuation")))
                case .failure(let error): context.fail(CommandFailure(error))
                }
            }
        }
    }
}

/// Prints the content of a clipboard that was continued here, and fetches documents. Used only on
/// the loop's thread.
private final class PasteSession {
    private let activity: ContinuedActivity
    private let continuation: ContinuationID
    private let context: CommandContext
    /// The files that have not been located yet, in reverse order.
    private var rest: [String] = []
    private var paths: [String] = []
    private var folder: String?
    private var receiving: ReceiveSession?

    init(_ activity: ContinuedActivity, _ continuation: ContinuationID, _ context: CommandContext) {
        self.activity = activity
        self.continuation = continuation
        self.context = context
    }

    func start(_ wanted: ClipboardFormat?) {
        let content = activity.userInfo
        let available = content.compactMap { ClipboardFormat(rawValue: $0.key) }
        guard let format = wanted ?? ClipboardFormat.preferred(among: content.map(\.key)),
            let value = content[format.rawValue]
        else {
            let names = available.map(\.rawValue).joined(separator: ", ")
            return context.fail(
                CommandFailure(
                    .failed, "NoFormat",
                    "the clipboard of \(VisibleText.escape(activity.origin.deviceName)) is not available as "
                        + "\(wanted?.rawValue ?? "a known format")",
                    advice: names.isEmpty ? [] : ["it is available as: \(names)"]))
        }
        do throws(CommandFailure) {
            switch value {
            case .string(let text) where format.isText: show(text, format)
            case .array(let files) where format == .files:
                rest = try files.map { (file) throws(CommandFailure) in try Self.url(of: file) }.reversed()
                try next()
            default:
                guard !context.console.outputIsTerminal || format.isText else { throw .binaryToTerminal(format) }
                try fetch(try Self.url(of: value), output: "-", handler: nil)
            }
        } catch {
            context.fail(error)
        }
    }

    private static func url(of value: JSON) throws(CommandFailure) -> String {
        guard let text = value.object?["$url"]?.string else {
            throw CommandFailure(.badAnswer("the clipboard has a format without content"))
        }
        return text
    }

    private func show(_ text: String, _ format: ClipboardFormat) {
        if context.json {
            context.console.line(fields(format, ["text": .string(text)]))
        } else if context.console.outputIsTerminal {
            context.console.write(ContinuedText.lines(text))
        } else {
            context.console.write(text)
        }
        context.finish(.done)
    }

    private func fields(_ format: ClipboardFormat, _ more: JSONObject) -> JSONObject {
        var fields: JSONObject = [
            "type": .string(format.rawValue), "device": .string(activity.origin.device.hex),
            "deviceName": .string(activity.origin.deviceName),
        ]
        for field in more { fields[field.key] = field.value }
        return fields
    }

    /// Locates or fetches the next file. After the last one, prints all paths.
    private func next() throws(CommandFailure) {
        let lookup = DocumentLookup(roots: .configured { [context] in context.note($0) })
        while let text = rest.popLast() {
            guard let url = DocumentURL(text) else {
                throw CommandFailure(.badAnswer("the clipboard names a file without a valid URL"))
            }
            switch lookup.place(of: url) {
            case .here(let path): paths.append(path)
            // Use only one folder, because receiving restricts this process to it.
            case .absent: return try fetch(text, output: try fetchedFolder(), handler: self)
            }
        }
        if context.json {
            context.console.line(fields(.files, ["paths": .array(paths.map { .string($0) })]))
        } else {
            // Programs need the exact path. Another device may have chosen its name.
            for path in paths {
                context.console.line(context.console.outputIsTerminal ? VisibleText.escape(path) : path)
            }
        }
        context.finish(.done)
    }

    private func fetchedFolder() throws(CommandFailure) -> String {
        if let folder { return folder }
        guard let leftovers = Leftovers() else {
            throw .file("create", "the folder for documents", why: "HOME is not set to an absolute path")
        }
        do throws(TransferFailure) {
            let made = try leftovers.makeFetchedFolder(for: "clipboard \(continuation.hex)")
            folder = made
            return made
        } catch {
            throw .transfer(error)
        }
    }

    private func fetch(_ text: String, output: String, handler: (any ReceiveHandler)?) throws(CommandFailure) {
        guard let url = DocumentURL(text), let resource = url.fetch.flatMap(DocumentResource.resource) else {
            let name = DocumentURL(text).map { VisibleText.escape($0.name) } ?? "it"
            throw .noDocument("\(name) is only on the other device, and cannot be fetched", canFetch: false)
        }
        let request = ReceiveRequest(
            activity: ContinueRequest(take: true), output: output, timeout: ReceiveRequest.defaultTimeout,
            document: DocumentSource(
                url: url, text: text, continuation: continuation, resource: resource, isReported: handler == nil))
        let session = try ReceiveSession(request, context, handler: handler)
        receiving = session
        session.start()
    }
}

extension PasteSession: ReceiveHandler {
    var acceptsIncomplete: Bool { true }

    func receivingBegan() {}

    func received(_ path: String?) {
        if let path { paths.append(path) }
        do throws(CommandFailure) {
            try next()
        } catch {
            context.fail(error)
        }
    }

    func receivingFailed(_ failure: CommandFailure) { context.fail(failure) }
}

extension CommandFailure {
    /// The content is not text.
    fileprivate static func binaryToTerminal(_ format: ClipboardFormat) -> CommandFailure {
        CommandFailure(
            .failed, "NotText",
            "the clipboard is available only as \(format.rawValue), which is not shown on a terminal",
            advice: ["write it to a file: handoffctl paste > FILE"])
    }
}
