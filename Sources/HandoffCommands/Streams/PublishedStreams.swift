import HandoffClient
import HandoffControl
import HandoffDocuments
import HandoffJSON
import HandoffModel
import HandoffTransfer
import LoopIO

/// The content that a published activity streams.
enum PublishedContent: Equatable {
    /// The file name under which a text is sent.
    private static let textName = "Text.txt"
    /// The file name under which the content of the clipboard is sent.
    static let clipboardName = "clipboard"

    /// A file or folder, by its path, or `-` for standard input.
    case path(String)
    /// Several files and folders, by their paths, as one folder with this name.
    case paths([String], name: String)
    /// A text.
    case text(String)
    /// The content of the clipboard.
    case clipboard([UInt8])

    /// The maximum size of a text that is sent as the payload of an activity, in bytes. A longer one
    /// is sent as a file.
    static let maxText = 16_384

    /// The text that is sent as the payload instead of a stream; nil for other content.
    var payloadText: String? {
        guard case .text(let text) = self, text.utf8.count <= Self.maxText else { return nil }
        return text
    }

    /// The type of the activity that sends it.
    var type: ActivityType { payloadText == nil ? .content : .text }

    /// The name and size of a file that other devices may keep for a recipient that cannot open a
    /// stream; nil for other content, and for a file that cannot be read.
    var keptFile: (name: String, size: Int)? {
        guard !isInput, let source = try? open(), source.header.kind == .file, let name = source.header.name,
            let size = source.header.size.flatMap(Int.init(exactly:))
        else { return nil }
        return (name, size)
    }

    /// Returns the content of a file of this size; nil if it has changed.
    func read(_ size: Int) -> [UInt8]? {
        guard let content = try? open().read(limit: size + 1), content.count == size else { return nil }
        return content
    }

    /// True if it can be read only once.
    var isInput: Bool { self == .path("-") }

    /// Opens the content for one transfer.
    /// - Throws: `TransferFailure` if it cannot be sent.
    func open() throws(TransferFailure) -> SourceFile {
        switch self {
        case .path(let path): try SourceFile(path)
        case .paths(let paths, let name): try SourceFile(entriesAt: paths, name: name)
        case .text(let text): try SourceFile(content: Array(text.utf8), name: Self.textName)
        case .clipboard(let bytes): try SourceFile(content: bytes, name: Self.clipboardName)
        }
    }
}

/// Serves the streams of a published activity. Opens a file or folder anew for each request; serves
/// standard input once. Used only on the loop's thread.
final class PublishedStreams {
    /// The state of standard input, which cannot be read twice.
    private enum Input {
        case untouched
        /// Offered to a device that has not received any of it.
        case offered
        case consumed
    }

    /// A stream being served.
    private struct Serving {
        let activity: ActivityID
        let device: Origin
        /// True for the standard input of this command.
        var isInput = false
        /// The connection, until the stream is open.
        var client: ControlClient?
        var transfer: SenderTransfer?
        /// The number in the status line, once content is being sent.
        var progress: Int?
    }

    /// Called for each event with its name, the activity, a text, and fields.
    var onEvent: ((String, ActivityID, String, JSONObject) -> Void)?
    /// Returns the document offered under a number; nil for an unknown number.
    var document: ((Int) -> PublishedContent?)?

    /// The parts of the content that a device did not receive.
    private(set) var omissions = TransferOmissions.none
    /// The failure after which the content can no longer be sent, such as its deletion.
    private(set) var sourceFailure: TransferFailure?
    /// True if the content is a folder that contains repositories.
    let hasRepository: Bool

    /// The maximum number of streams per device at a time. Each reads and hashes the whole file.
    private static let maxStreamsPerDevice = 16

    private let content: PublishedContent?
    /// The only kind of content that may be sent; nil for any.
    private let expected: TransferHeader.Kind?
    private let context: CommandContext
    private lazy var status = TransferStatus(
        context, verb: "sending", tick: context.json ? { [unowned self] in reportProgress() } : nil)
    private var input = Input.untouched
    private var servings: [StreamID: Serving] = [:]

    /// - Parameters:
    ///   - content: nil to serve only documents.
    ///   - expected: the only kind of content that may be sent; nil for any.
    /// - Throws: `CommandFailure` if the content cannot be streamed.
    init(
        _ content: PublishedContent?, _ expected: TransferHeader.Kind?, _ context: CommandContext
    ) throws(CommandFailure) {
        self.content = content
        self.expected = expected
        self.context = context
        do throws(TransferFailure) {
            // Open it briefly, so that errors are reported before anything is offered.
            hasRepository =
                try content.map { (content) throws(TransferFailure) in
                    try Self.open(content, expected).header.hasRepository
                } ?? false
        } catch {
            throw .transfer(error)
        }
    }

    /// Accepts a stream that a device requests, and sends the content, or the document that the
    /// resource names. Refuses a request for another resource.
    func serve(_ id: StreamID, _ resource: StreamResource?, of activity: ActivityID, to device: Origin) {
        var serving = Serving(activity: activity, device: device)
        do throws(ClientError) {
            let client = try ControlClient(path: context.socketPath, loop: context.loop)
            serving.client = client
            servings[id] = serving
            client.openStream(.stream(id)) { [weak self] result in
                guard let self, context.status == nil else { return }
                servings[id]?.client = nil
                switch result {
                case .success(let stream): send(id, resource, stream)
                case .failure(let error): ended(id, TransferFailure(daemon: error, "cannot open the stream"))
                }
            }
        } catch {
            servings[id] = serving
            ended(id, TransferFailure(daemon: error, "cannot open the stream"))
        }
    }

    /// Cancels all transfers.
    func stop() {
        for serving in servings.values { serving.transfer?.cancel() }
    }

    /// Clears the status line before something else is printed.
    func makeRoom() { status.clear() }

    private func send(_ id: StreamID, _ resource: StreamResource?, _ stream: ContinuationStream) {
        do throws(TransferFailure) {
            guard let device = servings[id]?.device.device,
                servings.values.count(where: { $0.device.device == device }) <= Self.maxStreamsPerDevice
            else { throw TransferFailure(.busy, "too many streams are already being sent to one device") }
            let source = if let resource { try open(resource) } else { try openContent(for: id) }
            TransferMemory.keep()
            let transfer = SenderTransfer(source, over: stream, on: context.loop, readInput: context.keyboard.readSome)
            {
                [weak self] event in self?.happened(event, to: id)
            }
            servings[id]?.transfer = transfer
            transfer.start()
        } catch {
            // Sent instead of the first message, so that the other device can report the reason.
            stream.write(TransferFrame.error(error).encoded())
            stream.finish()
            ended(id, error)
        }
    }

    private static func open(
        _ content: PublishedContent, _ expected: TransferHeader.Kind?
    ) throws(TransferFailure) -> SourceFile {
        let source = try content.open()
        guard let expected, source.header.kind != expected else { return source }
        throw TransferFailure.shared(.changed, "it was a \(expected.rawValue) when it was sent, and no longer is one")
    }

    /// Opens a document by the number in the resource, never by a path from outside.
    private func open(_ resource: StreamResource) throws(TransferFailure) -> SourceFile {
        guard let document = DocumentResource.number(resource).flatMap({ document?($0) }) else {
            throw TransferFailure(.unsupported, "this activity has no stream for '\(resource)'")
        }
        guard case .path(let path) = document else { return try document.open() }
        // Only the file name is shown: the path is private.
        return try SourceFile(path, shownAs: SourceFile.name(of: path))
    }

    private func openContent(for id: StreamID) throws(TransferFailure) -> SourceFile {
        guard let content else { throw TransferFailure(.unsupported, "this activity has streams only for documents") }
        guard content.isInput else {
            do throws(TransferFailure) {
                return try Self.open(content, expected)
            } catch {
                sourceFailure = error
                throw error
            }
        }
        switch input {
        case .untouched:
            input = .offered
            servings[id]?.isInput = true
        case .offered: throw TransferFailure(.busy, "its standard input is being streamed to another device")
        case .consumed:
            throw TransferFailure.shared(.busy, "its standard input was already streamed, which is possible only once")
        }
        return try content.open()
    }

    private func happened(_ event: SenderTransfer.Event, to id: StreamID) {
        guard let serving = servings[id] else { return }
        switch event {
        case .begun(let offset): begun(id, serving, offset)
        case .moved:
            guard let progress = serving.progress, let transfer = serving.transfer else { return }
            status.moved(progress, to: transfer.contentBytes)
        case .note(let text):
            status.clear()
            context.note(text)
        case .ended(let failure): ended(id, failure)
        }
    }

    private func begun(_ id: StreamID, _ serving: Serving, _ offset: Int64) {
        guard let source = serving.transfer?.source else { return }
        let header = source.header
        if serving.isInput { input = .consumed }
        servings[id]?.progress = status.begin(TransferStatus.Progress(position: offset, size: source.total))
        let from = offset > 0 ? ", resuming at \(ByteText.text(offset))" : ""
        let fields: JSONObject = [
            "name": header.name.map { .string($0) } ?? .null, "size": header.size.map { .integer($0) } ?? .null,
            "from": .integer(offset),
        ]
        report(id, serving, "started", "started\(from)", fields)
    }

    private func ended(_ id: StreamID, _ failure: TransferFailure?) {
        guard let serving = servings.removeValue(forKey: id) else { return }
        if serving.isInput, case .offered = input { input = .untouched }
        if let progress = serving.progress { status.end(progress) }
        if let failure {
            let fields: JSONObject = [
                "reason": .string(failure.reason.rawValue), "message": .string(failure.description),
            ]
            report(id, serving, "failed", "failed: \(failure)", fields)
        } else {
            let bytes = serving.transfer?.contentBytes ?? 0
            let missing = serving.transfer?.omissions ?? .none
            if !missing.isEmpty { omissions = missing }
            let words = missing.isEmpty ? "" : "; \(missing.summary)"
            var fields: JSONObject = ["bytes": .integer(bytes)]
            if !missing.isEmpty { fields["missing"] = .integer(missing.count) }
            report(id, serving, "finished", "finished, \(ByteText.text(bytes))\(words)", fields)
        }
    }

    private func report(_ id: StreamID, _ serving: Serving, _ state: String, _ text: String, _ fields: JSONObject) {
        let device = serving.device
        var all: JSONObject = [
            "stream": .string(id.hex), "state": .string(state), "device": .string(device.device.hex),
            "deviceName": .string(device.deviceName), "deviceKind": .string(device.deviceKind.name),
        ]
        for field in fields { all[field.key] = field.value }
        let name = DeviceText.label(device.deviceName, device.device)
        onEvent?("stream", serving.activity, "to \(name): \(text)", all)
    }

    private func reportProgress() {
        for (id, serving) in servings {
            guard serving.progress != nil, let transfer = serving.transfer else { continue }
            let fields: JSONObject = [
                "stream": .string(id.hex), "device": .string(serving.device.device.hex),
                "sent": .integer(transfer.contentBytes),
                "total": transfer.source.total.map { .integer($0) } ?? .null,
            ]
            onEvent?("progress", serving.activity, "", fields)
        }
    }
}
