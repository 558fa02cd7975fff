import CLinux
import Glibc

/// A regular file written by other programs, read as a whole.
package struct PlainFile: Sendable {
    /// Metadata that identifies a version of a file without reading it.
    package struct Version: Sendable, Equatable {
        /// The file system and the file's inode number in it.
        let device: UInt64
        let inode: UInt64
        /// The size in bytes.
        let size: Int64
        /// The time of the last change of content, name or mode, in nanoseconds since 1970.
        /// Programs cannot set it.
        package let changed: Int64
        /// The time of the last change of content, in nanoseconds since 1970.
        let written: Int64

        init(_ status: stat) {
            device = UInt64(status.st_dev)
            inode = UInt64(status.st_ino)
            size = Int64(status.st_size)
            changed = Self.nanoseconds(status.st_ctim)
            written = Self.nanoseconds(status.st_mtim)
        }

        private static func nanoseconds(_ time: timespec) -> Int64 {
            let (seconds, hasOverflown) = Int64(time.tv_sec).multipliedReportingOverflow(by: 1_000_000_000)
            return hasOverflown ? 0 : seconds &+ Int64(time.tv_nsec)
        }
    }

    package let bytes: [UInt8]
    /// The version that was read.
    package let version: Version

    /// Returns the version of the file at a path (stat(2)), or nil if it does not exist or is not a
    /// regular file.
    package static func version(at path: String) -> Version? {
        var status = stat()
        guard stat(path.systemPath, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return Version(status)
    }

    /// Reads a file. Links are followed. Pipes and devices are rejected without blocking. Call it
    /// on a worker's thread.
    ///
    /// - Parameter limit: the maximum size in bytes.
    /// - Throws: an error of open(2) or read(2); EFBIG above the limit, EINVAL if it is not a
    ///   regular file.
    package static func read(_ path: String, limit: Int) throws(Errno) -> PlainFile {
        let flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK
        let file = Descriptor(owning: try SystemCall.retrying { open(path.systemPath, flags) })
        var status = stat()
        try SystemCall.retrying { fstat(file.raw, &status) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .invalidArgument }
        guard status.st_size <= limit else { throw .fileTooLarge }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = try SystemCall.retrying { Glibc.read(file.raw, &chunk, chunk.count) }
            if count == 0 { break }
            guard bytes.count + count <= limit else { throw .fileTooLarge }
            bytes += chunk[..<count]
        }
        return PlainFile(bytes: bytes, version: Version(status))
    }

    /// Reads a file like `read`; nil if it does not exist. A link to a missing file is an error
    /// (ENOENT), because its user expects the file.
    package static func readOptional(_ path: String, limit: Int) throws(Errno) -> PlainFile? {
        do throws(Errno) {
            return try read(path, limit: limit)
        } catch .noSuchFile where FolderListing.target(ofLink: path) == nil {
            return nil
        }
    }
}
