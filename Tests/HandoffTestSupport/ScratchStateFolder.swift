package import Glibc

/// A location for one state folder, removed with its content at the end.
package final class ScratchStateFolder: Sendable {
    /// The parent of the state folder.
    private let root: String
    /// The state folder, which does not exist initially.
    package let path: String

    package init() throws {
        var template = Array("/tmp/handoff-state-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Failure(call: "mkdtemp") }
        root = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        path = root + "/state"
    }

    deinit {
        for folder in [path, root + "/.config/handoff/state", root + "/.local/state/handoff/state"] {
            for name in names(in: folder) { unlink(folder + "/" + name) }
            rmdir(folder)
        }
        for folder in ["/.config/handoff", "/.config", "/.local/state/handoff", "/.local/state", "/.local", ""] {
            rmdir(root + folder)
        }
    }

    struct Failure: Error {
        let call: String
    }

    /// A path next to the state folder.
    package func beside(_ name: String) -> String {
        root + "/" + name
    }

    /// The bytes of a file in the state folder, or nil if it does not exist.
    package func read(_ name: String) -> [UInt8]? {
        guard let file = fopen(path + "/" + name, "r") else { return nil }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        let count = fread(&bytes, 1, bytes.count, file)
        return Array(bytes.prefix(count))
    }

    /// Writes a file without synchronisation or checks.
    package func write(_ name: String, _ bytes: [UInt8]) throws {
        guard let file = fopen(path + "/" + name, "w") else { throw Failure(call: "fopen") }
        defer { fclose(file) }
        guard fwrite(bytes, 1, bytes.count, file) == bytes.count else { throw Failure(call: "fwrite") }
    }

    package func remove(_ name: String) {
        unlink(path + "/" + name)
    }

    package func exists(_ name: String) -> Bool {
        access(path + "/" + name, F_OK) == 0
    }

    /// Permission bits of a file, or of the folder for "".
    package func mode(_ name: String) -> mode_t {
        var status = stat()
        return stat(path + "/" + name, &status) == 0 ? status.st_mode & 0o777 : 0
    }

    /// The names in the state folder, sorted.
    package var names: [String] {
        names(in: path)
    }

    private func names(in folder: String) -> [String] {
        guard let stream = opendir(folder) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }
}
