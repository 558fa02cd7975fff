/// A format of clipboard content, by its MIME type. docs/control-protocol.md specifies the activity.
enum ClipboardFormat: String, CaseIterable {
    case plain = "text/plain"
    case html = "text/html"
    case files = "text/uri-list"
    case png = "image/png"
    case jpeg = "image/jpeg"
    case svg = "image/svg+xml"
    case webp = "image/webp"
    case gif = "image/gif"

    /// The maximum size of a text in the payload, in bytes. A longer text is sent as a document.
    static let maxInline = 16_384
    /// The seconds for which the clipboard is offered.
    static let lifetime = 120.0

    /// The word for the format in the team of the activity, which all devices receive.
    var flag: String {
        switch self {
        case .plain: "text"
        case .files: "files"
        case .svg: "svg"
        case .html, .png, .jpeg, .webp, .gif: String(rawValue.drop { $0 != "/" }.dropFirst())
        }
    }

    /// True if the content is a text in UTF-8.
    var isText: Bool { self == .plain || self == .html || self == .svg }

    /// The formats in the order in which `paste` prefers them.
    static func preferred(among keys: some Sequence<String>) -> ClipboardFormat? {
        let keys = Set(keys)
        return allCases.first { keys.contains($0.rawValue) }
    }
}
