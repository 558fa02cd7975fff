import Glibc
package import LoopIO

/// Creates folders that are accessible only to their owner.
package enum FolderCreation {
    /// Creates a folder and any missing parents.
    package static func makeFolders(_ path: String) throws(Errno) {
        do throws(Errno) {
            try createFolder(path)
        } catch .noSuchFile {
            guard let parent = parent(of: path) else { throw .noSuchFile }
            try makeFolders(parent)
            try createFolder(path)
        }
    }

    /// Creates a folder with mode 0700 unless it exists.
    package static func createFolder(_ path: String) throws(Errno) {
        do throws(Errno) {
            try makeNewFolder(path)
        } catch .exists {}
    }

    /// Creates a folder with mode 0700.
    /// - Throws: EEXIST if the name is in use.
    package static func makeNewFolder(_ path: String) throws(Errno) {
        try SystemCall.retrying { mkdir(path.systemPath, 0o700) }
    }

    /// Removes write access for other users from a folder.
    /// - Throws: EACCES if the folder or a link to it belongs to another user.
    package static func secure(_ path: String) throws(Errno) {
        var link = stat()
        try SystemCall.retrying { lstat(path.systemPath, &link) }
        let folder = Descriptor(
            owning: try SystemCall.retrying { open(path.systemPath, O_RDONLY | O_DIRECTORY | O_CLOEXEC) })
        let raw = folder.raw
        var status = stat()
        try SystemCall.retrying { fstat(raw, &status) }
        guard link.st_uid == geteuid(), status.st_uid == geteuid() else { throw .permissionDenied }
        let mode = status.st_mode & 0o777
        guard mode & 0o022 != 0 else { return }
        try SystemCall.retrying { fchmod(raw, mode & ~0o022) }
    }

    private static func parent(of path: String) -> String? {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash > path.startIndex else { return nil }
        return String(path[..<slash])
    }
}
