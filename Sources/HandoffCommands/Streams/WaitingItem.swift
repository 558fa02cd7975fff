import HandoffJSON
import HandoffModel
import HandoffTransfer
import LoopIO

/// An item that `send --wait` keeps for a device, and `deliver` offers.
struct WaitingItem: Equatable {
    /// The maximum size of the file of an item, in bytes.
    private static let maxFile = 1 << 28

    /// The recipient.
    let device: DeviceID
    let title: String?
    /// The URL of a page; nil for content.
    let page: String?
    /// The content. The paths of files are absolute.
    let content: PublishedContent?
    /// The kind of the content at a single path when it was sent; nil for other content.
    let kind: TransferHeader.Kind?
    /// True if other devices keep the item for its recipient.
    let isKept: Bool

    private init(
        device: DeviceID, title: String?, page: String?, content: PublishedContent?, kind: TransferHeader.Kind?,
        isKept: Bool
    ) {
        self.device = device
        self.title = title
        self.page = page
        self.content = content
        self.kind = kind
        self.isKept = isKept
    }

    /// Describes a request of `send`.
    /// - Throws: `CommandFailure` if its content cannot be read.
    init(_ request: PublishRequest, to device: DeviceID) throws(CommandFailure) {
        let content = request.stream?.absolute
        var kind: TransferHeader.Kind?
        do throws(TransferFailure) {
            let source = try content?.open()
            if case .path? = content { kind = source?.header.kind }
        } catch {
            throw .transfer(error)
        }
        self.init(
            device: device, title: request.title, page: request.webpageURL, content: content, kind: kind,
            isKept: request.keep == true)
    }

    /// The request that offers the item.
    var request: PublishRequest {
        PublishRequest(
            type: content?.type ?? .browsingWeb, title: title, userInfo: nil, webpageURL: page, team: nil,
            requiredKeys: [], stream: content, recipient: device.hex, keep: isKept ? true : nil,
            endsWhenAccepted: true, waiting: self)
    }

    // MARK: - The file

    /// Parses the content of a file.
    /// - Returns: nil for an invalid file, or one of a later version.
    init?(parsing bytes: [UInt8]) {
        let limits = JSONLimits(
            bytes: Self.maxFile, depth: 4, members: SendCommand.maxOperands, values: SendCommand.maxOperands + 64)
        guard let object = (try? JSON(parsing: bytes, limits: limits))?.object, object["version"] == 1,
            let device = object["device"]?.string.flatMap({ DeviceID(hex: $0) })
        else { return nil }
        let paths = object["paths"]?.array?.compactMap(\.string) ?? []
        let content: PublishedContent? =
            if let text = object["text"]?.string {
                .text(text)
            } else if let name = object["name"]?.string {
                .paths(paths, name: name)
            } else {
                paths.first.map { PublishedContent.path($0) }
            }
        let page = object["page"]?.string
        guard page != nil || content != nil else { return nil }
        self.init(
            device: device, title: object["title"]?.string, page: page, content: content,
            kind: object["kind"]?.string.flatMap(TransferHeader.Kind.init), isKept: object["keep"] == true)
    }

    /// Reads a file.
    /// - Returns: nil for an invalid file, or one of a later version.
    static func read(_ path: String) throws(Errno) -> WaitingItem? {
        WaitingItem(parsing: try LocalFile.read(path, limit: maxFile).bytes)
    }

    /// The content of its file. A path with any bytes is system text, which is valid UTF-8.
    var encoded: [UInt8] {
        var object: JSONObject = ["version": 1, "device": .string(device.hex)]
        if let title { object["title"] = .string(title) }
        if let page { object["page"] = .string(page) }
        if isKept { object["keep"] = true }
        if let kind { object["kind"] = .string(kind.rawValue) }
        switch content {
        case .path(let path): object["paths"] = .array([.string(path)])
        case .paths(let paths, let name):
            object["paths"] = .array(paths.map { .string($0) })
            object["name"] = .string(name)
        case .text(let text): object["text"] = .string(text)
        case .clipboard, nil: break  // It does not wait.
        }
        return JSON.object(object).encoded()
    }
}

extension PublishedContent {
    /// The content with absolute paths, for a process with another working folder.
    fileprivate var absolute: PublishedContent {
        switch self {
        case .path(let path): .path(Self.absolute(path))
        case .paths(let paths, let name): .paths(paths.map(Self.absolute), name: name)
        case .text, .clipboard: self
        }
    }

    private static func absolute(_ path: String) -> String {
        guard path.utf8.first != UInt8(ascii: "/") else { return path }
        return "\(FolderListing.target(ofLink: "/proc/self/cwd") ?? "")/\(path)"
    }
}
