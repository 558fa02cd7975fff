import Glibc
import LoopIO

/// Reads configuration files. Blocks while the file system does, so use it only at start and on
/// SIGHUP.
package enum ConfigurationReader {
    /// Returns the bytes of a file, up to one more than allowed, or nil if it does not exist.
    /// Throws if it cannot be read or is not a regular file, so that a pipe cannot delay the start.
    package static func read(_ path: String) throws(ConfigurationError) -> [UInt8]? {
        guard !path.utf8.contains(0) else { throw .unreadableFile(path: path, reason: "the path contains a NUL byte") }
        // Non-blocking, in case the path is a pipe without a writer.
        let file = unsafe open(path.systemPath, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else {
            let code = errno
            if code == ENOENT || code == ENOTDIR { return nil }
            throw .unreadableFile(path: path, reason: text(of: code))
        }
        defer { close(file) }
        var status = stat()
        guard unsafe fstat(file, &status) == 0 else { throw .unreadableFile(path: path, reason: text(of: errno)) }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw .unreadableFile(path: path, reason: "it is not a regular file")
        }
        return try contents(of: file, path: path)
    }

    private static func contents(of file: Int32, path: String) throws(ConfigurationError) -> [UInt8] {
        let limit = ConfigurationFile.byteLimit + 1
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4096)
        while bytes.count < limit {
            let count = unsafe Glibc.read(file, &piece, min(piece.count, limit - bytes.count))
            if count == 0 { break }
            guard count > 0 else {
                if errno == EINTR { continue }
                throw .unreadableFile(path: path, reason: text(of: errno))
            }
            bytes.append(contentsOf: piece.prefix(count))
        }
        return bytes
    }

    private static func text(of code: Int32) -> String {
        guard let text = unsafe strerror(code) else { return "error \(code)" }
        return unsafe String(cString: text)
    }
}
