import Glibc
import HandoffModel
import LoopIO

/// Files that version control programs run as soon as they are used in a folder: configuration with commands, hooks, and files that
/// lead to a configuration elsewhere.
///
/// Programs that ask before they use the configuration of a folder, such as direnv and editors, are left to do so.
struct RepositoryMetadata {
    /// The suffix of a name that was set aside.
    static let suffix = ".set-aside"

    /// Names that are set aside in folders whose path ends with these names, all as `folded` has them.
    private static let rules: [(folder: [String], names: Set<String>)] = [
        ([".git"], git), ([".git", "sl"], ["config"]), ([".hg"], ["hgrc", "hgrc-not-shared", "sharedpath"]),
        ([".sl"], ["config", "hgrc", "sharedpath"]), ([".jj"], []), ([".jj", "repo"], ["config.toml"]),
        (["_darcs", "prefs"], ["defaults"]),
    ]
    private static let git: Set<String> = ["commondir", "config", "config.worktree", "hooks"]
    /// Files that lead to a repository elsewhere.
    private static let pointers: [[String]] = [[".git"], [".jj", "repo"]]
    /// Beginnings of repositories that are looked for in advance.
    private static let markers: Set<String> = [".git", ".hg", ".sl", ".jj", "_darcs"]

    /// A folder with something to set aside.
    struct Candidate {
        /// The path below the top, by components, as sent.
        let folder: [[UInt8]]
        /// Names to set aside, folded.
        var names: Set<String>
        /// True if only its content shows that Git takes it for a repository.
        var isBare = false
    }

    private(set) var candidates: [Candidate] = []

    /// Takes an entry of a received folder into account.
    /// - Returns: whether it has to be looked at in the end.
    mutating func add(_ entry: TarEntry) -> Bool {
        guard let last = entry.components.last.flatMap(Self.folded) else { return false }
        let parent = Array(entry.components.dropLast())
        let above = parent.last.flatMap(Self.folded)
        func ends(with path: [String]) -> Bool {
            path.last == last && (path.count == 1 || path.first == above)
        }
        if entry.kind == .folder {
            guard let rule = Self.rules.first(where: { ends(with: $0.folder) }) else { return false }
            candidates.append(Candidate(folder: entry.components, names: rule.names))
        } else if Self.pointers.contains(where: ends) {
            candidates.append(Candidate(folder: parent, names: [last]))
        } else if last == "head" {
            candidates.append(Candidate(folder: parent, names: Self.git, isBare: true))
        } else {
            return false
        }
        return true
    }

    /// Whether Git takes a folder with these names, folded, for a repository of its own.
    private static func isBare(_ names: Set<String>) -> Bool {
        names.contains("head") && (names.contains("commondir") || names.isSuperset(of: ["objects", "refs"]))
    }

    /// Renames what a candidate has to set aside.
    /// - Returns: the names, former and new.
    static func setAside(_ candidate: Candidate, in number: Int32) throws(Errno) -> [(old: [UInt8], new: [UInt8])] {
        let names = try FolderTree.names(in: number)
        let bytes = names.map { $0.dropLast().map { UInt8(bitPattern: $0) } }
        if candidate.isBare, !isBare(Set(bytes.compactMap(folded))) { return [] }
        var moved: [(old: [UInt8], new: [UInt8])] = []
        for name in bytes where folded(name).map(candidate.names.contains) == true {
            moved.append((name, try setAside(name, in: number)))
        }
        return moved
    }

    private static func setAside(_ name: [UInt8], in number: Int32) throws(Errno) -> [UInt8] {
        let old = name.nullTerminated
        for attempt in 1...9999 {
            let new = name + Array((attempt == 1 ? suffix : "\(suffix) (\(attempt))").utf8)
            let path = new.nullTerminated
            var status = stat()
            // Nothing else changes a folder that is being received.
            guard fstatat(number, path, &status, AT_SYMLINK_NOFOLLOW) != 0 else { continue }
            try SystemCall.retrying { renameat(number, old, number, path) }
            return new
        }
        throw .exists
    }

    /// A name as the file system that is least exact about it compares it; nil for one that is longer than any name here.
    ///
    /// Without case, without dots and blanks at its end, without characters that cannot be seen, and with Windows' short name for
    /// `.git`.
    private static func folded(_ name: [UInt8]) -> String? {
        guard name.count <= 64 else { return nil }
        var text = ""
        for scalar in String(decoding: name, as: UTF8.self).unicodeScalars where !VisibleText.isHidden(scalar) {
            guard !VisibleText.isJoiner(scalar) else { continue }
            guard scalar != ":" else { break }
            text += scalar.properties.lowercaseMapping
        }
        while text.last == "." || text.last == " " { text.removeLast() }
        return text == "git~1" ? ".git" : text
    }

    // MARK: - At the sender

    /// Entries that are looked at in advance, and folders in each other.
    private static let maxEntries = 20_000
    private static let maxDepth = 16

    /// True if there are repositories in a folder that is about to be sent, as far as a look at its first 20,000 entries shows.
    static func isFound(in folder: Int32) -> Bool {
        var left = maxEntries
        return isFound(in: folder, depth: 0, &left)
    }

    private static func isFound(in folder: Int32, depth: Int, _ left: inout Int) -> Bool {
        // A file that cannot be read is not sent either.
        guard depth < maxDepth, left > 0, let names = try? FolderTree.names(in: folder) else { return false }
        let folded = Set(names.compactMap { self.folded($0.dropLast().map { UInt8(bitPattern: $0) }) })
        if !folded.isDisjoint(with: markers) || isBare(folded) { return true }
        left -= names.count
        for name in names {
            let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
            guard let number = try? SystemCall.retrying({ openat(folder, name, flags) }) else { continue }
            let inner = Descriptor(owning: number)
            if isFound(in: inner.raw, depth: depth + 1, &left) { return true }
        }
        return false
    }
}
