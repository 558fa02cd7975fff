import Glibc
package import LoopIO

/// The few questions about files that finding documents takes. All of them block for as long as the file system does.
package enum FileTree {
    /// What something is, links followed.
    package enum Kind: Sendable {
        /// A regular file.
        case file
        /// A folder.
        case folder
        /// Anything else, such as a pipe or a device.
        case other
    }

    /// What is at a path (stat(2)); nil when there is nothing, or it cannot be known.
    package static func kind(of path: String) -> Kind? {
        var status = stat()
        guard isPath(path), stat(path, &status) == 0 else { return nil }
        switch status.st_mode & S_IFMT {
        case S_IFREG: return .file
        case S_IFDIR: return .folder
        default: return .other
        }
    }

    /// Whether a file or folder can be read now (access(2)).
    package static func isReadable(_ path: String) -> Bool {
        isPath(path) && access(path, R_OK) == 0
    }

    /// The content of a small regular file; nil when there is none, it cannot be read, or is larger.
    package static func read(_ path: String, limit: Int) -> [UInt8]? {
        try? content(of: path, limit: limit)
    }

    /// The content of a small regular file. Never waits for the other end of a pipe.
    /// - Throws: an error of open(2) or read(2), EFBIG above the limit, EINVAL for what is no regular file.
    package static func content(of path: String, limit: Int) throws(Errno) -> [UInt8] {
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

    /// The path without links (realpath(3)). Of what does not exist: that of the last folder on the way that does, with the rest
    /// behind it; nil when the rest leads back up, or a link on the way leads to nothing.
    package static func real(_ path: String) -> String? {
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
            // What is there and has no real path is a link to nothing, or hidden from us.
            guard lstat(place, &status) != 0, errno == ENOENT || errno == ENOTDIR, let parent = parent(of: place) else {
                return nil
            }
            guard let last = lastComponent(of: place), last != ".", last != ".." else { return nil }
            rest.append(last)
            place = parent
        }
    }

    /// The components of a path below a folder, none for the folder itself; nil when it is not below it. Both without links.
    package static func components(of path: String, below folder: String) -> [String]? {
        // By bytes, since names that look the same are different files.
        if path.utf8.elementsEqual(folder.utf8) { return [] }
        let prefix = folder == "/" ? "/" : folder + "/"
        guard path.utf8.starts(with: prefix.utf8) else { return nil }
        return path.utf8.dropFirst(prefix.utf8.count).split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
    }

    /// The folder that something is in; nil for `/`.
    package static func parent(of path: String) -> String? {
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

    /// The names of the folders in a folder, in the order of their bytes; without hidden ones and links.
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
