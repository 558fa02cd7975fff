import Glibc
import LoopIO

/// The file system queries needed to find documents. All of them block while the file system does.
package enum FileTree {
    /// The type of a file, with links resolved.
    package enum Kind: Sendable {
        /// A regular file.
        case file
        /// A folder.
        case folder
        /// Anything else, such as a pipe or a device.
        case other
    }

    /// Returns the type of the file at a path (stat(2)), or nil if it does not exist or is
    /// inaccessible.
    package static func kind(of path: String) -> Kind? {
        var status = stat()
        guard isPath(path), stat(path, &status) == 0 else { return nil }
        switch status.st_mode & S_IFMT {
        case S_IFREG: return .file
        case S_IFDIR: return .folder
        default: return .other
        }
    }

    /// Returns true if a file or folder can be read now (access(2)).
    static func isReadable(_ path: String) -> Bool {
        isPath(path) && access(path, R_OK) == 0
    }

    /// Returns the content of a small regular file, or nil if it does not exist, is unreadable, or
    /// exceeds the limit.
    static func read(_ path: String, limit: Int) -> [UInt8]? {
        try? content(of: path, limit: limit)
    }

    /// Returns the content of a small regular file. Never waits for the other end of a pipe.
    /// - Throws: an error of open(2) or read(2), EFBIG above the limit, EINVAL if it is not a
    ///   regular file.
    static func content(of path: String, limit: Int) throws(Errno) -> [UInt8] {
        guard isPath(path) else { throw .invalidArgument }
        let file = Descriptor(
            owning: try SystemCall.retrying { open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK) })
        let raw = file.raw
        var status = stat()
        try SystemCall.retrying { fstat(raw, &status) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .invalidArgument }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = try SystemCall.retrying { Glibc.read(raw, &chunk, chunk.count) }
            if count == 0 { return bytes }
            guard bytes.count + count <= limit else { throw .fileTooLarge }
            bytes += chunk[..<count]
        }
    }

    /// Returns the path with links resolved (realpath(3)). If the path does not exist, resolves its
    /// last existing ancestor and appends the rest. Returns nil if the rest contains `.` or `..`,
    /// or for a dangling link.
    static func real(_ path: String) -> String? {
        guard isPath(path), path.hasPrefix("/") else { return nil }
        var rest: [String] = []
        var place = path
        while true {
            if let found = realpath(place, nil) {
                defer { free(found) }
                guard let text = String(validatingCString: found) else { return nil }
                return rest.isEmpty ? text : (text == "/" ? "" : text) + "/" + rest.reversed().joined(separator: "/")
            }
            var status = stat()
            // An existing file without a real path is a dangling link or inaccessible.
            guard lstat(place, &status) != 0, errno == ENOENT || errno == ENOTDIR, let parent = parent(of: place) else {
                return nil
            }
            guard let last = lastComponent(of: place), last != ".", last != ".." else { return nil }
            rest.append(last)
            place = parent
        }
    }

    /// Returns the components of a path below a folder, or nil if it is not below it. The folder
    /// itself has none. Both paths must have their links resolved.
    package static func components(of path: String, below folder: String) -> [String]? {
        // Compares bytes, because different files can have names that look the same.
        if path.utf8.elementsEqual(folder.utf8) { return [] }
        let prefix = folder == "/" ? "/" : folder + "/"
        guard path.utf8.starts(with: prefix.utf8) else { return nil }
        return path.utf8.dropFirst(prefix.utf8.count).split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
    }

    /// Returns the parent folder of a path, or nil for `/`.
    static func parent(of path: String) -> String? {
        let slash = UInt8(ascii: "/")
        var bytes = Array(path.utf8)[...]
        while bytes.last == slash { bytes.removeLast() }
        guard let end = bytes.lastIndex(of: slash) else { return nil }
        bytes = bytes[..<end]
        while bytes.last == slash { bytes.removeLast() }
        return bytes.isEmpty ? "/" : String(decoding: bytes, as: UTF8.self)
    }

    private static func lastComponent(of path: String) -> String? {
        path.utf8.split(separator: UInt8(ascii: "/")).last.map { String(Substring($0)) }
    }

    /// Returns the names of the folders in a folder, in byte order, without hidden ones and links.
    static func folders(in path: String, limit: Int) -> [String] {
        guard isPath(path), let folder = opendir(path) else { return [] }
        defer { closedir(folder) }
        var names: [String] = []
        while names.count < limit, let entry = readdir(folder) {
            let bytes = withUnsafeBytes(of: entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
            guard bytes.first != UInt8(ascii: "."), let name = String(validating: bytes, as: UTF8.self) else {
                continue
            }
            switch Int(entry.pointee.d_type) {
            case Int(DT_DIR): names.append(name)
            case Int(DT_UNKNOWN):
                var status = stat()
                let isFolder = lstat(path + "/" + name, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
                if isFolder { names.append(name) }
            default: break
            }
        }
        return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    private static func isPath(_ text: String) -> Bool { !text.isEmpty && !text.utf8.contains(0) }
}
