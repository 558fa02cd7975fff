import Glibc
import LoopIO

/// A new folder of mode 0700 in the temporary folder. It is removed with its content when it is
/// released, or at the end of the process, because reference cycles in tests are never released.
package final class ScratchFolder {
    /// Its absolute path. It is short, because a socket's path can have only 107 bytes.
    package let path: String

    /// - Throws: `ScratchError` if it cannot be created.
    package init() throws {
        var template = Array("/tmp/ho-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw ScratchError(errno: errno) }
        let path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        self.path = path
        Self.cleanUp
        _ = Self.present.withLock { $0.insert(path) }
    }

    /// The existing folders, which are removed at the end of the process.
    private static let present = Locked(Set<String>())
    private static let cleanUp: Void = {
        atexit { for path in ScratchFolder.present.withLock({ $0 }) { ScratchFolder.remove(path) } }
    }()

    deinit {
        Self.remove(path)
        _ = Self.present.withLock { $0.remove(path) }
    }

    private static func remove(_ path: String) {
        // Tests create no folders in it.
        if let folder = opendir(path) {
            while let entry = readdir(folder) {
                let name = withUnsafeBytes(of: entry.pointee.d_name) {
                    String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
                }
                _ = unlink("\(path)/\(name)")
            }
            closedir(folder)
        }
        _ = rmdir(path)
    }

    /// The path of a file in it.
    package func file(_ name: String) -> String { "\(path)/\(name)" }

    /// Writes or replaces a text file.
    package func write(_ text: String, to name: String) throws {
        guard let stream = fopen(file(name), "w") else { throw ScratchError(errno: errno) }
        defer { fclose(stream) }
        guard fputs(text, stream) >= 0 else { throw ScratchError(errno: errno) }
    }
}

/// A scratch folder or file could not be created.
package struct ScratchError: Error {
    package let errno: Int32
}
