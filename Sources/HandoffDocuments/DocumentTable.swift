package import HandoffModel

/// The files that the `userInfo` of one activity names, and what travels in their place. A plain value: who asks the file
/// system gives the answers to `learned`.
package struct DocumentTable: Sendable {
    /// What is known of a file.
    package struct Answer: Sendable, Equatable {
        /// What travels, without a number.
        package let url: DocumentURL
        /// The path by which it can be read now; nil when it cannot.
        package let path: String?

        /// An answer with these values.
        package init(url: DocumentURL, path: String?) {
            self.url = url
            self.path = path
        }
    }

    /// Files of one activity that can be fetched; their numbers are used once.
    package static let maxOffered = 1024
    /// Files of which anything is known; more travel as names that lead nowhere.
    package static let maxKnown = 4096

    private struct Entry {
        var answer: Answer
        var fetch: Int?
        var isFresh: Bool
    }

    private var entries: [String: Entry] = [:]
    private var offered: [String] = []

    /// Nothing is known.
    package init() {}

    /// The files of a `userInfo` of which nothing is known, or nothing since `outdate`.
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

    /// Takes what is known of files. A file keeps the number that it had.
    package mutating func learned(_ answers: [String: Answer]) {
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

    /// The app has saved: the files may have come, gone, or moved since they were asked for.
    package mutating func outdate() {
        for text in entries.keys { entries[text]?.isFresh = false }
    }

    /// The `userInfo` as it travels: without a path of this device.
    package func travelling(_ userInfo: UserInfoValue) -> UserInfoValue {
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

    /// Whether a `userInfo` names a file that can be fetched.
    package func offersAny(in userInfo: UserInfoValue) -> Bool {
        guard !offered.isEmpty else { return false }
        var offers = false
        userInfo.forEachURL { text in
            if let entry = entries[text], entry.fetch != nil, entry.answer.path != nil { offers = true }
        }
        return offers
    }

    /// The path of a file that was offered under a number; nil for any other number.
    package func path(_ fetch: Int) -> String? {
        offered.indices.contains(fetch) ? offered[fetch] : nil
    }
}

extension DocumentTable.Answer {
    /// Asks the file system; blocks for as long as that does.
    package init(of file: FileURL, roots: SharedRoots) {
        let kind = file.path.flatMap { FileTree.kind(of: $0) }
        let isReadable = file.path.map { FileTree.isReadable($0) } ?? false
        let url = roots.url(of: file) ?? .nowhere(file.name, isFolder: file.isFolder, fragment: file.fragment)
        self.init(url: url, path: isReadable && (kind == .file || kind == .folder) ? file.path : nil)
    }
}

/// What the stream is for over which a document is fetched: `document/` and its number.
package enum DocumentResource {
    /// What all of them begin with.
    private static let prefix = "document/"

    /// The resource of a document.
    package static func resource(_ fetch: Int) -> StreamResource? { StreamResource(prefix + String(fetch)) }

    /// The number of a document; nil for any other resource.
    package static func number(_ resource: StreamResource) -> Int? {
        guard resource.text.hasPrefix(prefix) else { return nil }
        let digits = resource.text.dropFirst(prefix.count)
        guard digits.utf8.count <= 6, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int(digits)
    }
}
