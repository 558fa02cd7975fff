import HandoffModel
import HandoffTransfer
import LoopIO

/// The subject that the operand of `publish` names.
enum PublishSubject: Equatable {
    /// An activity of some app.
    case activity(ActivityType)
    /// A web page, by its URL.
    case page(String)
    /// A file or folder, by its path, or `-` for standard input.
    case content(String)

    /// Classifies the text by its form, and by whether a file exists at this path. A missing file
    /// fails when it is opened, whatever its name looks like: a missing file is not a usage error.
    /// - Throws: `UsageError` for a text that is none of these.
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

    /// Returns the scheme of a URL of the form `SCHEME://…`, in lower case, or nil.
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

    /// Returns true if a text without slashes ends with a file extension and does not begin like a
    /// reversed domain.
    private static func isNameOfFile(_ text: String) -> Bool {
        let parts = text.lowercased().utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
            .map { String(Substring($0)) }
        guard parts.count > 1, let first = parts.first, let last = parts.last, fileExtensions.contains(last) else {
            return false
        }
        return parts.count == 2 || !(domains.contains(first) || first.utf8.count == 2)
    }

    /// Common file extensions. A text with another extension is assumed to be a type; a hint is
    /// printed if it has few parts.
    private static let fileExtensions: Set<String> = [
        "7z", "avi", "avif", "bmp", "bz2", "c", "conf", "cpp", "css", "csv", "deb", "doc", "docx", "epub", "flac",
        "gif", "gz", "h", "heic", "htm", "html", "iso", "jpeg", "jpg", "js", "json", "key", "log", "m4a", "md",
        "mkv", "mov", "mp3", "mp4", "odp", "ods", "odt", "ogg", "pdf", "png", "ppt", "pptx", "py", "rar", "rpm",
        "rtf", "sh", "svg", "swift", "tar", "tex", "tgz", "tif", "tiff", "txt", "wav", "webm", "webp", "xls",
        "xlsx", "xml", "xz", "yaml", "yml", "zip", "zst",
    ]
    /// Top-level domains of more than two letters that are common in types.
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

    /// True for a file or folder that can be opened again.
    var isFile: Bool { content.map { $0 != "-" } ?? false }

    /// The default title: the URL, or the name of the file.
    var title: String? {
        switch self {
        case .activity: nil
        case .page(let url):
            // A URL may be longer than a title.
            url.utf8.count > Limits.title ? url.prefix(utf8Count: Limits.title - "…".utf8.count) + "…" : url
        case .content(let path): path == "-" ? nil : SourceFile.name(of: path)
        }
    }
}
