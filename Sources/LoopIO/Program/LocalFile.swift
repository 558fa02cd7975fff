import Glibc

/// A file that was read as a whole, for programs that may block while reading.
package struct LocalFile: Sendable {
    package let bytes: [UInt8]
    /// True for a regular file, false for a pipe or device, whose content can be read only once.
    package let isRegular: Bool
    /// True if users other than the owner may read the file.
    package let isReadableByOthers: Bool

    /// Reads a file. Blocks until the end of a pipe.
    /// - Parameter limit: the maximum size in bytes.
    /// - Throws: an error of open(2) or read(2), EFBIG above the limit, EISDIR for a folder.
    package static func read(_ path: String, limit: Int) throws(Errno) -> LocalFile {
        let file = Descriptor(
            owning: try SystemCall.retrying { open(path.systemPath, O_RDONLY | O_CLOEXEC | O_NOCTTY) })
        return try read(file.raw, limit: limit)
    }

    /// Reads the first bytes of a regular file. Does not block on a pipe.
    package static func beginning(of path: String, limit: Int) throws(Errno) -> [UInt8] {
        let flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK
        let file = Descriptor(owning: try SystemCall.retrying { open(path.systemPath, flags) })
        var bytes = [UInt8](repeating: 0, count: limit)
        let number = file.raw
        let count = try SystemCall.retrying { Glibc.read(number, &bytes, limit) }
        return Array(bytes.prefix(count))
    }

    /// Reads standard input to its end.
    ///
    /// Uses the descriptor instead of `/dev/stdin`, which would be opened again: that fails for the
    /// pipe of another user, for example after `sudo -u`.
    package static func readStandardInput(limit: Int) throws(Errno) -> LocalFile {
        try read(STDIN_FILENO, limit: limit)
    }

    private static func read(_ number: Int32, limit: Int) throws(Errno) -> LocalFile {
        var status = stat()
        try SystemCall.retrying { fstat(number, &status) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = try SystemCall.retrying { Glibc.read(number, &chunk, chunk.count) }
            if count == 0 { break }
            guard bytes.count + count <= limit else { throw .fileTooLarge }
            bytes += chunk[..<count]
        }
        SecretWipe.wipe(&chunk)
        let isRegular = status.st_mode & S_IFMT == S_IFREG
        return LocalFile(
            bytes: bytes, isRegular: isRegular,
            isReadableByOthers: isRegular && status.st_mode & (S_IRGRP | S_IROTH) != 0)
    }
}

extension Errno {
    /// EFBIG: the file exceeds the size limit.
    package static let fileTooLarge = Errno(rawValue: EFBIG)
}
