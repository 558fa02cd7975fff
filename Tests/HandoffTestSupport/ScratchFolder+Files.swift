import Glibc
import LoopIO

extension ScratchFolder {
    /// The text of a file, or nil if it does not exist.
    package func text(of name: String) -> String? {
        guard let content = try? LocalFile.read(file(name), limit: 1_048_576) else { return nil }
        return String(decoding: content.bytes, as: UTF8.self)
    }

    /// The bytes of a file, or nil if it does not exist.
    package func bytes(of name: String) -> [UInt8]? {
        try? LocalFile.read(file(name), limit: 1_048_576).bytes
    }

    /// The names in it, including hidden ones.
    package var names: [String] {
        guard let folder = opendir(path) else { return [] }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            names.append(
                withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) })
        }
        return names.filter { ![".", ".."].contains($0) }
    }

    /// Writes or replaces a file with any bytes.
    package func write(bytes: [UInt8], to name: String) throws {
        guard let stream = fopen(file(name), "w") else { throw ScratchError(errno: errno) }
        defer { fclose(stream) }
        guard fwrite(bytes, 1, bytes.count, stream) == bytes.count else { throw ScratchError(errno: errno) }
    }

    /// Another folder with copies of some of its files, each of mode 0600, as from a backup.
    package func copy(of names: String...) throws -> ScratchFolder {
        let copy = try ScratchFolder()
        for name in names {
            let content = try LocalFile.read(file(name), limit: 1_048_576)
            try copy.write(bytes: content.bytes, to: name)
            chmod(copy.file(name), 0o600)
        }
        return copy
    }

    /// The permission bits of a file, or nil if it does not exist.
    package func mode(of name: String) -> UInt32? {
        var status = stat()
        guard stat(file(name), &status) == 0 else { return nil }
        return status.st_mode & 0o777
    }
}
