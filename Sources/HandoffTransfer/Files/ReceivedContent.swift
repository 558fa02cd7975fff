import Glibc
package import LoopIO

/// What transfers have left in a folder of the program's own.
package enum ReceivedContent {
    /// Deletes a folder with everything in it, whatever its modes; links are deleted and not followed. Blocks for as long as the
    /// file system does.
    /// - Throws: an error of open(2), unlink(2) or rmdir(2); nothing when there is no such folder.
    package static func remove(folder path: String) throws(Errno) {
        do throws(Errno) {
            let folder = Descriptor(
                owning: try SystemCall.retrying { open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) })
            try FolderTree.empty(folder.raw)
            try SystemCall.retrying { rmdir(path) }
        } catch .noSuchFile {
            return
        }
    }
}
