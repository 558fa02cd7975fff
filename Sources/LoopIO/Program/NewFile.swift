import CLinux
import Glibc

/// A file that did not exist before, and that only its owner may read: for secrets that a user asked for.
///
/// It gets its name when all of it is on the disk, so that nothing is left of one whose writer was killed. Where a file system
/// knows no files without a name, as that of a memory stick, it has its name from the beginning.
package final class NewFile {
    private let path: String
    private var descriptor: Descriptor?
    private var hasName = false
    /// True if only the owner may read it. Some file systems give all files the same permissions.
    package let isPrivate: Bool

    /// Creates it (open(2) with mode 0600, and O_TMPFILE or O_EXCL), without following a link.
    /// - Parameter mode: only tests, which act as such a file system, use another one.
    /// - Throws: EEXIST when there is something of that name.
    package init(path: String, mode: UInt32 = 0o600) throws(Errno) {
        self.path = path
        var status = stat()
        if lstat(path.systemPath, &status) == 0 { throw .exists }
        let opened: Int32
        do throws(Errno) {
            let folder = Self.folder(of: path)
            opened = try SystemCall.retrying { clinux_open_nameless(folder.systemPath, mode) }
        } catch {
            // If that is not the reason, this one tells it.
            let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
            opened = try SystemCall.retrying { open(path.systemPath, flags, mode) }
            hasName = true
        }
        descriptor = Descriptor(owning: opened)
        isPrivate = fstat(opened, &status) == 0 && status.st_mode & 0o077 == 0
    }

    /// Writes the whole content, makes it and its name durable (fsync(2)), and closes the file.
    /// - Throws: EEXIST when something has got the name meanwhile.
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
            // The file system does not know it for folders.
        }
    }

    /// Closes and deletes it: it is not complete.
    package func remove() {
        descriptor = nil
        // Nothing is left to do when it is gone already.
        if hasName { _ = unlink(path.systemPath) }
    }

    private static func folder(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }
}
