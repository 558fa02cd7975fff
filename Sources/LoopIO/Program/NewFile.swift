import CLinux
import Glibc

/// A new file that only its owner may read, for secrets that a user exports.
///
/// The file gets its name after its content is on disk, so that nothing is left of it if the writer
/// is killed. On file systems without O_TMPFILE, such as that of a memory stick, the file has its
/// name from the start.
package final class NewFile {
    private let path: String
    private var descriptor: Descriptor?
    private var hasName = false
    /// True if only the owner may read it. Some file systems give all files the same permissions.
    package let isPrivate: Bool

    /// Creates the file (open(2) with mode 0600, and O_TMPFILE or O_EXCL), without following a
    /// link.
    /// - Parameter mode: tests pass another mode to simulate a file system with fixed permissions.
    /// - Throws: EEXIST if the path already exists.
    package init(path: String, mode: UInt32 = 0o600) throws(Errno) {
        self.path = path
        var status = stat()
        if lstat(path.systemPath, &status) == 0 { throw .exists }
        let opened: Int32
        do throws(Errno) {
            let folder = Self.folder(of: path)
            opened = try SystemCall.retrying { clinux_open_nameless(folder.systemPath, mode) }
        } catch {
            // If O_TMPFILE is not the cause, this call fails with the cause.
            let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
            opened = try SystemCall.retrying { open(path.systemPath, flags, mode) }
            hasName = true
        }
        descriptor = Descriptor(owning: opened)
        isPrivate = fstat(opened, &status) == 0 && status.st_mode & 0o077 == 0
    }

    /// Writes the content, makes content and name durable (fsync(2)), and closes the file.
    /// - Throws: EEXIST if the path has been created in the meantime.
    package func finish(writing bytes: [UInt8]) throws(Errno) {
        guard let number = descriptor?.raw else { return }
        try StandardStream.write(bytes, to: number)
        try SystemCall.retrying { fsync(number) }
        try SystemCall.flush(number)
        if !hasName {
            try SystemCall.retrying { clinux_name_file(number, path.systemPath) }
            hasName = true
        }
        descriptor = nil
        do throws(Errno) {
            let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC
            let folder = Descriptor(owning: try SystemCall.retrying { open(Self.folder(of: path).systemPath, flags) })
            try SystemCall.retrying { fsync(folder.raw) }
        } catch .invalidArgument {
            // The file system does not support fsync(2) of folders.
        }
    }

    /// Closes and deletes the incomplete file.
    package func remove() {
        descriptor = nil
        // Ignore errors: the file may already be deleted.
        if hasName { _ = unlink(path.systemPath) }
    }

    private static func folder(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }
}
