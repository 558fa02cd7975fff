import HandoffControl
import HandoffDocuments
import HandoffJSON
import HandoffModel
package import LoopIO

/// `copy`: offers content as the clipboard of this device.
package struct CopyCommand: Command {
    package static let specification = CommandSpecification(
        words: ["copy"], operands: [.several(.path, 0...maxFiles)],
        summary: "offer standard input or files to handoffctl paste on the other devices",
        options: [
            OptionSpecification("--type", .value(.format), "the format of standard input (default: text/plain)")
        ],
        details: """
            Offers the content as the clipboard of this device, for two minutes, while the command runs. Other devices
            receive only the list of its formats. The content is sent when it is pasted there, by handoffctl paste or by
            a program on a desktop with a shared clipboard (docs/desktop.md, Clipboard). The command does not require a
            display, and does not change the clipboard of this device. Standard input is read once. Files and folders
            are fetched as documents, and their paths are not sent. Ctrl-C withdraws the content.

            FORMAT is text/plain, text/html, image/png, image/jpeg, image/svg+xml, image/webp or image/gif. Text must be
            UTF-8.

            With --json: the events of handoffctl publish.
            """,
        example: "handoffctl copy ./report.pdf")

    static let maxFiles = 1024
    /// The maximum size of standard input, in bytes.
    private static let maxInput = 1 << 28

    private let files: [String]
    private let format: ClipboardFormat

    package init(validating arguments: ParsedArguments) throws(UsageError) {
        let command = Self.specification.name
        files = try arguments.operands.map { (text) throws(UsageError) in
            try ArgumentValue.text(text, option: "PATH")
        }
        guard let text = arguments.value("--type") else {
            format = files.isEmpty ? .plain : .files
            return
        }
        guard let format = ClipboardFormat(rawValue: text), format != .files else {
            throw .badValue(text, of: "--type", expected: "a format of clipboard content", command: command)
        }
        if !files.isEmpty { throw .conflict("--type", "files", command: command) }
        self.format = format
    }

    package func run(in context: CommandContext) {
        do throws(CommandFailure) {
            let request = try files.isEmpty ? inputRequest() : filesRequest()
            request.run(in: context)
        } catch {
            context.fail(error)
        }
    }

    private func inputRequest() throws(CommandFailure) -> PublishRequest {
        let bytes: [UInt8]
        do throws(Errno) {
            bytes = try LocalFile.readStandardInput(limit: Self.maxInput).bytes
        } catch {
            throw .file("read", "standard input", why: "\(error)")
        }
        guard !bytes.isEmpty else { throw .file("copy", "standard input", why: "it is empty") }
        if format.isText {
            guard let text = String(validating: bytes, as: UTF8.self) else {
                throw .file("copy", "standard input", why: "it is not UTF-8; give its format with --type")
            }
            if bytes.count <= ClipboardFormat.maxInline { return request(.string(text)) }
        }
        var url = DocumentURL.nowhere(PublishedContent.clipboardName, isFolder: false, fragment: nil)
        url.fetch = 0
        return request(.object(["$url": .string(url.text)]), document: .clipboard(bytes))
    }

    private func filesRequest() throws(CommandFailure) -> PublishRequest {
        let lookup = DocumentLookup(roots: SharedRoots())
        let urls = try files.map { (file) throws(CommandFailure) in
            let path = try lookup.url(of: file).path
            guard let url = FileURL.text(path: path, isFolder: FolderListing.isFolder(path)) else {
                throw .file("name", file.systemTextRepaired, why: "the path is not absolute")
            }
            return JSON.object(["$url": .string(url)])
        }
        return request(.array(urls))
    }

    private func request(_ content: JSON, document: PublishedContent? = nil) -> PublishRequest {
        let now = SystemWallClock().secondsSince1970 - ActivityDescription.epoch
        return PublishRequest(
            type: .clipboard, title: nil, userInfo: .inline([format.rawValue: content]), webpageURL: nil,
            team: format.flag, requiredKeys: [], stream: nil, recipient: nil, endsWhenAccepted: false,
            document: document, expirationDate: now + ClipboardFormat.lifetime)
    }
}
