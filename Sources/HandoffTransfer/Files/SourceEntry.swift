import Glibc
import LoopIO

/// One of several files and folders that are sent together as the entries of one folder.
struct SourceEntry: Sendable {
    /// The path as the user gave it (system text).
    let path: String
    /// The name in the sent folder, different from the names of the other entries.
    let name: [UInt8]
    /// The size of a regular file; nil for everything else.
    let size: Int64?

    /// Returns the entries for these paths, sorted by path. The archive is therefore the same
    /// whatever the order of the paths, so that an interrupted transfer can be resumed.
    ///
    /// An entry has the last component of its path as name. If that name is already used by a path
    /// of another folder, it is numbered.
    static func entries(of paths: [String]) -> [SourceEntry] {
        var used: Set<[UInt8]> = []
        // The next number of each name, so that many equal names are numbered in linear time.
        var numbers: [String: Int] = [:]
        return paths.map { ($0, $0.systemBytes) }.sorted { $0.1.lexicographicallyPrecedes($1.1) }.map { path, _ in
            var status = stat()
            let exists = stat(path.systemPath, &status) == 0
            let isFolder = exists && status.st_mode & S_IFMT == S_IFDIR
            let original = SourceFile.systemName(of: path) ?? "folder"
            var name = original
            while !used.insert(name.systemBytes).inserted {
                let number = numbers[original, default: 2]
                numbers[original] = number + 1
                name = FileName.numbered(original, number, isFolder: isFolder)
            }
            let isRegular = exists && status.st_mode & S_IFMT == S_IFREG
            return SourceEntry(path: path, name: name.systemBytes, size: isRegular ? Int64(status.st_size) : nil)
        }
    }

    /// The id of these entries. It depends on the paths only, because the contents are compared.
    static func id(_ entries: [SourceEntry], in folder: String) -> TransferID {
        var hasher = SHA256Hasher()
        for text in [folder] + entries.map(\.path) { hasher.update(text.systemBytes + [0]) }
        return TransferID(checked: Array(hasher.digest().bytes.prefix(TransferID.byteCount)))
    }
}
