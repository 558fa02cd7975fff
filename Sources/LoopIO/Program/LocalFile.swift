import Glibc

/// A file that was read as a whole, for programs that wait for nothing else meanwhile.
package struct LocalFile: Sendable {
    /// Its content.
    package let bytes: [UInt8]
    /// Whether it is a plain file, and no pipe or device that gives its content only once.
    package let isRegular: Bool
    /// Whether others than the owner may read it.
    package let isReadableByOthers: Bool

    /// Reads a file; waits until a pipe ends.
    /// - Parameter limit: the most bytes that it may have.
    /// - Throws: an error of open(2) or read(2), EFBIG above the limit, EISDIR for a folder.
    package static func read(_ path: String, limit: Int) throws(Errno) -> LocalFile {
        let file = Descriptor(
            owning: try SystemCall.retrying { open(path.systemPath, O_RDONLY | O_CLOEXEC | O_NOCTTY) })
        return try read(file.raw, limit: limit)
    }

    /// The first bytes of a plain file; does not wait for a pipe.
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
    /// Through the descriptor and not by `/dev/stdin`, which would be opened anew: that fails for the pipe of another user,
    /// as after `sudo -u`.
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
    /// EFBIG: the file is larger than it may be.
    package static let fileTooLarge = Errno(rawValue: EFBIG)
}
