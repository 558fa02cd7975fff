import Glibc
import HandoffModel
import LoopIO

/// Files that make version control programs run commands when used in a folder: configuration,
/// hooks, and files that refer to a configuration elsewhere. They are set aside.
///
/// Files of programs that ask before using a folder's configuration, such as direnv and editors,
/// are kept.
struct RepositoryMetadata {
    /// The suffix of a name that has been set aside.
    static let suffix = ".set-aside"

    /// Folders, by the last components of their paths, and the names to set aside in them. All
    /// names are normalised by `folded`.
    private static let rules: [(folder: [String], names: Set<String>)] = [
        ([".git"], git), ([".git", "sl"], ["config"]), ([".hg"], ["hgrc", "hgrc-not-shared", "sharedpath"]),
        ([".sl"], ["config", "hgrc", "sharedpath"]), ([".jj"], []), ([".jj", "repo"], ["config.toml"]),
        (["_darcs", "prefs"], ["defaults"]),
    ]
    private static let git: Set<String> = ["commondir", "config", "config.worktree", "hooks"]
    /// Files that refer to a repository elsewhere.
    private static let pointers: [[String]] = [[".git"], [".jj", "repo"]]
    /// Names that indicate a repository, checked before sending.
    private static let markers: Set<String> = [".git", ".hg", ".sl", ".jj", "_darcs"]

    /// A folder that may contain names to set aside.
    struct Candidate {
        /// The path components below the top folder, as sent.
        let folder: [[UInt8]]
        /// Names to set aside, folded.
        var names: Set<String>
        /// True if only its content shows whether Git treats it as a repository.
        var isBare = false
    }

    private(set) var candidates: [Candidate] = []

    /// Examines an entry of a received folder.
    /// - Returns: true if the entry adds a candidate.
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

    /// Returns true if Git treats a folder with these folded names as a bare repository.
    private static func isBare(_ names: Set<String>) -> Bool {
        names.contains("head") && (names.contains("commondir") || names.isSuperset(of: ["objects", "refs"]))
    }

    /// Renames the entries of a candidate that must be set aside.
    /// - Returns: the old and new names.
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
            // Nothing else changes a folder while it is being received.
            guard fstatat(number, path, &status, AT_SYMLINK_NOFOLLOW) != 0 else { continue }
            try SystemCall.retrying { renameat(number, old, number, path) }
            return new
        }
        throw .exists
    }

    /// Returns a name in the form that the least exact file systems compare, or nil if it is too
    /// long to match any rule.
    ///
    /// The form ignores case, trailing dots and blanks, and invisible characters. It maps the
    /// Windows short name of `.git`.
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

    /// The maximum number of entries and the maximum depth examined before sending.
    private static let maxEntries = 20_000
    private static let maxDepth = 16

    /// Returns true if a folder to be sent contains repositories. Examines its first 20,000
    /// entries.
    static func isFound(in folder: Int32) -> Bool {
        var left = maxEntries
        return isFound(in: folder, depth: 0, &left)
    }

    /// Returns true if files and folders to be sent together are, or contain, repositories.
    /// - Parameter folder: the folder that relative paths are relative to.
    static func isFound(in entries: [SourceEntry], of folder: Int32) -> Bool {
        if isRepository(entries.map(\.name)) { return true }
        var left = maxEntries
        return entries.contains { entry in
            entry.size == nil && isFound(below: entry.path.systemPath, of: folder, O_DIRECTORY, depth: 0, &left)
        }
    }

    private static func isFound(in folder: Int32, depth: Int, _ left: inout Int) -> Bool {
        // A file that cannot be read is not sent either.
        guard depth < maxDepth, left > 0, let names = try? FolderTree.names(in: folder) else { return false }
        if isRepository(names.map { $0.dropLast().map { UInt8(bitPattern: $0) } }) { return true }
        left -= names.count
        for name in names where isFound(below: name, of: folder, O_DIRECTORY | O_NOFOLLOW, depth: depth + 1, &left) {
            return true
        }
        return false
    }

    private static func isFound(
        below name: [CChar], of folder: Int32, _ flags: Int32, depth: Int, _ left: inout Int
    ) -> Bool {
        guard let number = try? SystemCall.retrying({ openat(folder, name, O_RDONLY | O_CLOEXEC | flags) }) else {
            return false
        }
        let inner = Descriptor(owning: number)
        return isFound(in: inner.raw, depth: depth, &left)
    }

    private static func isRepository(_ names: [[UInt8]]) -> Bool {
        let folded = Set(names.compactMap(self.folded))
        return !folded.isDisjoint(with: markers) || isBare(folded)
    }
}
