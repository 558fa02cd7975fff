import Glibc

/// The names in a folder.
package enum FolderListing {
    /// Reads the names of what is in a folder (readdir(3)), without `.` and `..` and those that are not UTF-8. May wait for a
    /// disk: for a worker's thread.
    ///
    /// - Parameter limit: how many are read at most, in the order of the file system.
    /// - Throws: an error of opendir(3): ENOENT when it is missing, ENOTDIR when it is no folder.
    package static func names(in path: String, limit: Int) throws(Errno) -> [String] {
        guard let folder = opendir(path.systemPath) else { throw .current }
        defer { closedir(folder) }
        var names: [String] = []
        while names.count < limit, let entry = readdir(folder) {
            // The name ends with a NUL inside the entry.
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(validating: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if let name, name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    /// Makes a folder, in one that is there (mkdir(2)); the user's mask says for whom.
    package static func makeFolder(_ path: String) throws(Errno) {
        try SystemCall.retrying { mkdir(path.systemPath, 0o777) }
    }

    /// The target of a symbolic link (readlink(2)); nil if there is no link at this path, or for a target longer than PATH_MAX.
    package static func target(ofLink path: String) -> String? {
        var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = readlink(path.systemPath, &buffer, buffer.count)
        return count > 0 && count < buffer.count ? String(systemBytes: buffer[..<count]) : nil
    }

    /// Whether there is a folder at this path (stat(2)); links are followed.
    package static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return stat(path.systemPath, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }
}
