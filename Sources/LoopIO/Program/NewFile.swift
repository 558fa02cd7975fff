import Glibc

/// A file that did not exist before, and that only its owner may read: for secrets that a user asked for.
package final class NewFile {
    private let path: String
    private var descriptor: Descriptor?

    /// Creates it (open(2) with O_EXCL and mode 0600), without following a link.
    /// - Throws: EEXIST when there is something of that name.
    package init(path: String) throws(Errno) {
        self.path = path
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        descriptor = Descriptor(owning: try SystemCall.retrying { open(path, flags, 0o600) })
    }

    /// Writes the whole content, makes it durable (fsync(2)), and closes the file.
    package func finish(writing bytes: [UInt8]) throws(Errno) {
        guard let number = descriptor?.raw else { return }
        try StandardStream.write(bytes, to: number)
        try SystemCall.retrying { fsync(number) }
        descriptor = nil
    }

    /// Closes and deletes it: it is not complete.
    package func remove() {
        descriptor = nil
        // Nothing is left to do when it is gone already.
        _ = unlink(path)
    }
}
