import HandoffDocuments
import HandoffJSON
import HandoffModel
import LoopIO

/// A document that is fetched from another device.
struct DocumentSource {
    let url: DocumentURL
    /// The URL as given.
    let text: String
    /// The continuation of the app that received the URL; nil to continue the activity.
    let continuation: ContinuationID?
    /// The resource to request the stream for.
    let resource: StreamResource
    /// False if the command prints the path itself.
    var isReported = true

    /// Prints where a document is.
    /// - Parameter path: nil for standard output.
    static func show(
        _ text: String, _ url: DocumentURL, at path: String?, isFetched: Bool, _ context: CommandContext
    ) {
        let fields: JSONObject = [
            "url": .string(text), "path": path.map { .string($0) } ?? .null,
            "fragment": url.fragment.map { .string($0) } ?? .null, "fetched": .bool(isFetched),
        ]
        // Programs need the exact path. Another device may have chosen its name.
        context.show(fields, or: context.console.outputIsTerminal ? VisibleText.escape(path ?? "") : path ?? "")
    }
}

/// Finds the URLs of local files, and local files by their URLs.
struct DocumentLookup {
    /// Where a document is.
    enum Place: Equatable {
        case here(String)
        /// It is not on this device. The reason is the end of an error message.
        case absent(String)
    }

    let roots: SharedRoots

    /// Returns the absolute path and the URL of a file or folder.
    /// - Parameter path: a path, as system text.
    func url(of path: String) throws(CommandFailure) -> (path: String, url: DocumentURL) {
        let isAbsolute = path.utf8.first == UInt8(ascii: "/")
        let folder = isAbsolute ? "" : FolderListing.target(ofLink: "/proc/self/cwd") ?? ""
        let absolute = isAbsolute ? path : "\(folder)/\(path)"
        let shown = path.systemTextRepaired
        guard absolute.systemTextRepaired.hasSameBytes(as: absolute) else {
            throw .file("name", shown, why: "its path is not UTF-8, so it cannot be part of a URL")
        }
        let kind = FileTree.kind(of: absolute)
        guard kind == .file || kind == .folder else {
            throw .file("name", shown, why: kind == nil ? "no such file" : "it is neither a file nor a folder")
        }
        guard let file = FileURL(path: absolute, isFolder: kind == .folder) else {
            throw .file("name", shown, why: "the path is not absolute")
        }
        return (absolute, DocumentTable.Answer(of: file, roots: roots).url)
    }

    /// Looks for a document in the shared folders and checkouts.
    func place(of document: DocumentURL) -> Place {
        var found: [GitCheckout]?
        do throws(SharedRoots.Missing) {
            let path = try roots.path(of: document, found: &found)
            switch FileTree.kind(of: path) {
            case .file?, .folder?: return .here(path)
            case .other?: return .absent("\(path) is neither a file nor a folder")
            case nil: return .absent("\(path) does not exist; it may not have been synchronised yet")
            }
        } catch {
            let name = VisibleText.escape(document.name)
            switch error {
            case .nowhere where document.fetch != nil: return .absent("\(name) is only on the other device")
            case .noRoot, .noCheckout, .nowhere: return .absent(document.absence)
            case .rootUnavailable(let root, let path):
                return .absent("\(name) is in the shared folder '\(root)', but \(path) does not exist")
            case .outsideRoot: return .absent("the path of \(name) leaves its shared folder through a link")
            }
        }
    }
}

extension CommandFailure {
    /// A document is not on this device.
    static func noDocument(_ reason: String, canFetch: Bool) -> CommandFailure {
        CommandFailure(
            .failed, "NoDocument", reason,
            advice: canFetch ? ["fetch it from its activity with: --from ID (see handoffctl list)"] : [])
    }
}
