import Glibc

/// Functions for folders and symbolic links.
package enum FolderListing {
    /// Returns the names in a folder (readdir(3)), without `.`, `..` and names that are not UTF-8.
    /// May block on a disk: call it on a worker's thread.
    ///
    /// - Parameter limit: the maximum number of names, in the order of the file system.
    /// - Throws: an error of opendir(3): ENOENT if the folder does not exist, ENOTDIR if it is not
    ///   a folder.
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

    /// Creates a folder in an existing one (mkdir(2)). The user's umask determines its mode.
    package static func createFolder(_ path: String) throws(Errno) {
        try SystemCall.retrying { mkdir(path.systemPath, 0o777) }
    }

    /// Deletes a file (unlink(2)).
    package static func removeFile(_ path: String) throws(Errno) {
        try SystemCall.retrying { unlink(path.systemPath) }
    }

    /// Returns the target of a symbolic link (readlink(2)), or nil if there is no link at the path
    /// or the target is longer than PATH_MAX.
    package static func target(ofLink path: String) -> String? {
        var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = readlink(path.systemPath, &buffer, buffer.count)
        return count > 0 && count < buffer.count ? String(systemBytes: buffer[..<count]) : nil
    }

    /// Returns true if the path is a folder (stat(2)). Links are followed.
    package static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return stat(path.systemPath, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }
}
