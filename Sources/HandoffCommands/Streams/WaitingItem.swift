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
    /// The id of a file or folder when it was sent; nil if it is not checked.
    let contentID: TransferID?

    private init(
        device: DeviceID, title: String?, page: String?, content: PublishedContent?, contentID: TransferID?
    ) {
        self.device = device
        self.title = title
        self.page = page
        self.content = content
        self.contentID = contentID
    }

    /// Describes a request of `send`.
    /// - Throws: `CommandFailure` if its content cannot be read.
    init(_ request: PublishRequest, to device: DeviceID) throws(CommandFailure) {
        let content = request.stream?.absolute
        var contentID: TransferID?
        do throws(TransferFailure) {
            let source = try content?.open()
            // The files of several are compared when they are sent, as those of a folder are.
            if case .path? = content { contentID = source?.header.id }
        } catch {
            throw .transfer(error)
        }
        self.init(
            device: device, title: request.title, page: request.webpageURL, content: content, contentID: contentID)
    }

    /// The request that offers the item.
    var request: PublishRequest {
        PublishRequest(
            type: content?.type ?? .browsingWeb, title: title, userInfo: nil, webpageURL: page, team: nil,
            requiredKeys: [], stream: content, recipient: device.hex, endsWhenAccepted: true, waiting: self)
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
            contentID: object["content"]?.string.flatMap { TransferID(hex: $0) })
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
        if let contentID { object["content"] = .string(contentID.hex) }
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

/// The folder of the items that wait for their devices, one file for each.
struct WaitingFolder {
    /// The maximum number of items. All are activities of one session.
    static let maxItems = 64

    let path: String

    /// The folder `handoff/queue` in the user's state folder.
    /// - Throws: `CommandFailure` if no variable names that folder.
    init() throws(CommandFailure) {
        func folder(_ name: String) -> String? {
            ProcessEnvironment.value(name).flatMap { $0.hasPrefix("/") ? $0 : nil }
        }
        guard let state = folder("XDG_STATE_HOME") ?? folder("HOME").map({ $0 + "/.local/state" }) else {
            throw .file("keep", "items", why: "neither XDG_STATE_HOME nor HOME is set to an absolute path")
        }
        path = state + "/handoff/queue"
    }

    /// Creates the folder if it does not exist.
    func make() throws(CommandFailure) {
        var missing: [Substring] = []
        var known = path[...]
        while !FolderListing.isFolder(String(known)), let slash = known.lastIndex(of: "/") {
            missing.append(known)
            known = known[..<slash]
        }
        for folder in missing.reversed() {
            do throws(Errno) {
                try FolderListing.createFolder(String(folder))
            } catch .exists {
                // Another process has created it.
            } catch {
                throw .file("create", String(folder), why: "\(error)")
            }
        }
    }

    /// The names of the files, in the order in which the items were sent.
    func names() throws(CommandFailure) -> [String] {
        do throws(Errno) {
            return try FolderListing.names(in: path, limit: 4096).filter { $0.hasSuffix(Self.suffix) }.sorted()
        } catch .noSuchFile {
            return []
        } catch {
            throw .file("read", path, why: "\(error)")
        }
    }

    /// Returns the path of a file.
    func file(_ name: String) -> String { "\(path)/\(name)" }

    /// Adds items: all of them or none.
    func add(_ items: [WaitingItem]) throws(CommandFailure) {
        try make()
        let count = try names().count
        guard count + items.count <= Self.maxItems else {
            throw .file(
                "keep", items.count == 1 ? "the item" : "\(items.count) items",
                why: "\(count) are waiting already, and at most \(Self.maxItems) can; "
                    + "withdraw some (handoffctl list --mine, handoffctl withdraw ID)")
        }
        let stamp = Int64(SystemWallClock().secondsSince1970 * 1000)
        var added: [String] = []
        for item in items {
            // Sorted by time and position. The random number distinguishes two commands at one time.
            let random = UInt32.random(in: .min ... .max)
            let path = file("\(stamp)-\(100 + added.count)-\(random)\(Self.suffix)")
            do throws(Errno) {
                try NewFile(path: path).finish(writing: item.encoded)
                added.append(path)
            } catch {
                for path in added { remove(path) }
                throw .file("write", path, why: "\(error)")
            }
        }
    }

    private func remove(_ path: String) { try? FolderListing.removeFile(path) }

    private static let suffix = ".json"
}
