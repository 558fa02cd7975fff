import HandoffControl
import HandoffDocuments
import HandoffJSON
import HandoffModel
import HandoffTransfer
package import LoopIO

/// `document`: converts between local paths and the URLs of documents, and fetches documents.
package struct DocumentCommand: Command {
    package static let specification = CommandSpecification(
        words: ["document"], operands: [.one(.document)],
        summary: "print the URL of a file for other devices, or the local path of a document",
        options: [
            OptionSpecification(
                "--from", .value(.offer), "fetch a document that is not here from this activity, and continue it"),
            OptionSpecification(
                "--continuation", .value("ID"), "fetch it from the activity of this event continue"),
            OptionSpecification("--output", .value(.content), "where a fetched document is saved"),
            OptionSpecification(
                "--force", .flag, "with --output: replace an existing file, or create one without an extension"),
            OptionSpecification(
                "--send", .value("STREAM"), "send the file over this stream, which another device has requested"),
        ],
        details: """
            With PATH, prints the URL by which other devices find this file or folder. It has one of these forms
            (docs/control-protocol.md, Documents):

              handoff-document:root/…  in a folder that documents.conf names on both devices
              handoff-document:git/…   in a checkout of the same repository
              handoff-document:name/…  in no shared folder: the URL has only the name

            With URL, prints the path of the document on this device, if it exists in a shared folder or a checkout.
            Otherwise the document is fetched if the URL has a number (?fetch=N), and its activity is given: with --from
            the id of an offer, or with --continuation the id from the event continue, in the app that received it. The
            path of the fetched document is printed. On a terminal, the last line shows the progress. An interrupted
            fetch resumes when the same command is run again.

            A fetched document is stored in a private folder of the user's cache, and deleted 14 days after its last
            change. Copy it to keep it, or use --output with a file, a folder or -, as in handoffctl continue.

            With --send, a program in any language answers the event stream with the resource document/N: the file to
            which it assigned the number N is sent. It should never send a path that arrives from another device.

            With --json:

              PATH    path, url, shared: false if other devices can only fetch it
              URL     url, path, fragment (the part after #, or null), fetched: whether path is a fetched copy. Before
                      that, stream and progress of handoffctl continue, if the document is fetched
              --send  path, bytes: the other device has received it
            """,
        example: "handoffctl document ~/Notes/draft.md")

    private enum Request {
        case name(String)
        case locate(DocumentURL, String, ReceiveRequest?)
        case send(String, over: StreamID)
    }

    private let request: Request

    package init(validating arguments: ParsedArguments) throws(UsageError) {
        let command = Self.specification.name
        let text = try ArgumentValue.text(arguments.operands.first ?? "", option: "PATH|URL")
        let fetching = ["--from", "--continuation", "--output"].first { arguments.value($0) != nil }
        if let stream = arguments.value("--send") {
            if let fetching { throw .conflict("--send", fetching, command: command) }
            request = .send(try Self.path(text), over: try Self.id(stream, of: "--send"))
        } else if DocumentURL.isDocumentURL(text) {
            guard let url = DocumentURL(text) else {
                throw .badValue(text, of: "URL", expected: "the URL of a document", command: command)
            }
            request = .locate(url, text, try Self.fetch(url, text, arguments))
        } else {
            if let fetching { throw .missing("the URL of a document", for: fetching, command: command) }
            request = .name(try Self.path(text))
        }
        if arguments.has("--force"), arguments.value("--output") == nil {
            throw .missing("--output", for: "--force", command: command)
        }
    }

    /// Returns the request by which the document is fetched if it is not here; nil if that was not
    /// requested.
    private static func fetch(
        _ url: DocumentURL, _ text: String, _ arguments: ParsedArguments
    ) throws(UsageError) -> ReceiveRequest? {
        let command = specification.name
        let output = try arguments.value("--output").map { text throws(UsageError) in
            try ArgumentValue.text(text, option: "--output")
        }
        var activity = ContinueRequest(take: true)
        var continuation: ContinuationID?
        switch (arguments.value("--from"), arguments.value("--continuation")) {
        case (_?, _?): throw .conflict("--from", "--continuation", command: command)
        case (let id?, nil):
            activity.activity = try ArgumentValue.identifier(id, digits: ActivityID.byteCount * 2, command: command)
        case (nil, let id?): continuation = try Self.id(id, of: "--continuation")
        case (nil, nil):
            guard output == nil else { throw .missing("--from or --continuation", for: "--output", command: command) }
            return nil
        }
        guard let resource = url.fetch.flatMap(DocumentResource.resource) else { return nil }
        return ReceiveRequest(
            activity: activity, output: output ?? "", isForced: arguments.has("--force"),
            timeout: ReceiveRequest.defaultTimeout, unnamed: nil,
            document: DocumentSource(url: url, text: text, continuation: continuation, resource: resource))
    }

    private static func id<ID: FixedBytes>(_ text: String, of option: String) throws(UsageError) -> ID {
        guard let id = ID(hex: text) else {
            throw .badValue(text, of: option, expected: "an id from an event", command: specification.name)
        }
        return id
    }

    /// Returns the path of an operand, which may be a `file:` URL.
    private static func path(_ text: String) throws(UsageError) -> String {
        guard let file = FileURL(text) else { return text }
        guard let path = file.path else {
            throw .badValue(text, of: "URL", expected: "the URL of a file on this device", command: specification.name)
        }
        return path
    }

    package func run(in context: CommandContext) {
        do throws(CommandFailure) {
            switch request {
            case .name(let path): try name(path, in: context)
            case .locate(let url, let text, let fetch): try locate(url, text, fetch, in: context)
            case .send(let path, let stream):
                let sending = DocumentSending(path, over: stream, context)
                context.keep(sending)
                sending.start()
            }
        } catch {
            context.fail(error)
        }
    }

    private func name(_ path: String, in context: CommandContext) throws(CommandFailure) {
        let lookup = DocumentLookup(roots: .configured { context.note($0) })
        let (path, url) = try lookup.url(of: path)
        let isShared = url.place != .nowhere
        context.show(
            ["path": .string(path), "url": .string(url.text), "shared": .bool(isShared)], or: url.text)
        if !isShared, context.console.diagnosticsAreTerminal {
            context.note("it is in no shared folder: other devices can only fetch it, from an activity that names it")
        }
        context.finish(.done)
    }

    private func locate(
        _ url: DocumentURL, _ text: String, _ fetch: ReceiveRequest?, in context: CommandContext
    ) throws(CommandFailure) {
        let lookup = DocumentLookup(roots: .configured { context.note($0) })
        switch lookup.place(of: url) {
        case .here(let path):
            DocumentSource.show(text, url, at: path, isFetched: false, context)
            context.finish(.done)
        case .absent(let reason):
            guard var fetch else { throw .noDocument(reason, canFetch: url.fetch != nil) }
            if fetch.output.isEmpty { fetch.output = try Self.folder(for: fetch) }
            let session = try ReceiveSession(fetch, context)
            context.keep(session)
            session.start()
        }
    }

    /// Creates the folder for a document, the same one each time.
    private static func folder(for fetch: ReceiveRequest) throws(CommandFailure) -> String {
        guard let leftovers = Leftovers() else {
            throw .file("create", "the folder for documents", why: "HOME is not set to an absolute path")
        }
        let activity = fetch.activity.activity ?? fetch.document?.continuation?.hex ?? ""
        do throws(TransferFailure) {
            return try leftovers.makeFetchedFolder(for: "\(activity) \(fetch.document?.text ?? "")")
        } catch {
            throw .transfer(error)
        }
    }
}
