package import HandoffModel

/// The files named in the `userInfo` of one activity, and the URLs sent in their place. The table
/// does not access the file system. The caller does, and passes the results to `update`.
package struct DocumentTable: Sendable {
    /// The known facts about a file.
    package struct Answer: Sendable, Equatable {
        /// The URL to send, without a number.
        package let url: DocumentURL
        /// The path by which the file can currently be read; nil if it cannot.
        package let path: String?
    }

    /// The maximum number of files of one activity that can be fetched. Numbers are not reused.
    static let maxOffered = 1024
    /// The maximum number of known files. Any others are sent as names only.
    static let maxKnown = 4096

    private struct Entry {
        var answer: Answer
        var fetch: Int?
        var isFresh: Bool
    }

    private var entries: [String: Entry] = [:]
    private var offered: [String] = []

    package init() {}

    /// Returns the files of a `userInfo` that are not known, or not known since `invalidate`.
    package func unknown(in userInfo: UserInfoValue) -> Set<String> {
        var unknown: Set<String> = []
        userInfo.forEachURL { text in
            guard FileURL(text) != nil, unknown.count < Self.maxKnown else { return }
            if let entry = entries[text] {
                if !entry.isFresh { unknown.insert(text) }
            } else if entries.count + unknown.count < Self.maxKnown {
                unknown.insert(text)
            }
        }
        return unknown
    }

    /// Stores facts about files. A file keeps its number.
    package mutating func update(_ answers: [String: Answer]) {
        for (text, answer) in answers.sorted(by: { $0.key < $1.key }) {
            guard entries[text] != nil || entries.count < Self.maxKnown else { continue }
            var fetch = entries[text]?.fetch
            if let path = answer.path {
                if let number = fetch {
                    offered[number] = path
                } else if offered.count < Self.maxOffered {
                    fetch = offered.count
                    offered.append(path)
                }
            }
            entries[text] = Entry(answer: answer, fetch: fetch, isFresh: true)
        }
    }

    /// Marks all facts as outdated after the app has saved, because files may have been created,
    /// deleted or moved.
    package mutating func invalidate() {
        for text in entries.keys { entries[text]?.isFresh = false }
    }

    /// Returns the `userInfo` to send to other devices, without local paths.
    package func outgoing(_ userInfo: UserInfoValue) -> UserInfoValue {
        userInfo.replacingURLs { text in
            guard let file = FileURL(text) else { return nil }
            guard let entry = entries[text] else {
                return DocumentURL.nowhere(file.name, isFolder: file.isFolder, fragment: nil).text
            }
            var url = entry.answer.url
            url.fetch = entry.answer.path == nil ? nil : entry.fetch
            return url.text
        }
    }

    /// Returns true if a `userInfo` names a file that can be fetched.
    package func offersAny(in userInfo: UserInfoValue) -> Bool {
        guard !offered.isEmpty else { return false }
        var offers = false
        userInfo.forEachURL { text in
            if let entry = entries[text], entry.fetch != nil, entry.answer.path != nil { offers = true }
        }
        return offers
    }

    /// Returns the path of the file offered under a number, or nil for an unknown number.
    package func path(_ fetch: Int) -> String? {
        offered.indices.contains(fetch) ? offered[fetch] : nil
    }
}

extension DocumentTable.Answer {
    /// Examines a file. Blocks while the file system does.
    package init(of file: FileURL, roots: SharedRoots) {
        let kind = file.path.flatMap { FileTree.kind(of: $0) }
        let isReadable = file.path.map { FileTree.isReadable($0) } ?? false
        let url = roots.url(of: file) ?? .nowhere(file.name, isFolder: file.isFolder, fragment: file.fragment)
        self.init(url: url, path: isReadable && (kind == .file || kind == .folder) ? file.path : nil)
    }
}

/// The resource of a stream that transfers a document: `document/` and its number.
package enum DocumentResource {
    private static let prefix = "document/"

    /// Returns the resource of a document.
    package static func resource(_ fetch: Int) -> StreamResource? { StreamResource(prefix + String(fetch)) }

    /// Returns the number of a document, or nil for any other resource.
    package static func number(_ resource: StreamResource) -> Int? {
        guard resource.text.hasPrefix(prefix) else { return nil }
        let digits = resource.text.dropFirst(prefix.count)
        guard digits.utf8.count <= 6, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int(digits)
    }
}
