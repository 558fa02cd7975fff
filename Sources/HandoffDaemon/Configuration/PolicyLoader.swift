internal import Glibc
internal import LoopIO

/// Reads the administrator's policy: all `*.conf` files of a folder, in name order. Blocks while
/// the file system does, so use it only at start and on SIGHUP.
package struct PolicyLoader: Sendable {
    static let systemFolder = "/etc/handoff/policy.d"
    /// The maximum number of files.
    static let maxFiles = 256

    private let folder: String

    /// Creates a loader. It can be used repeatedly, because files may change.
    package init(folder: String = PolicyLoader.systemFolder) {
        self.folder = folder
    }

    /// Loads the current policy. If the folder does not exist, nothing is forbidden.
    ///
    /// - Throws: at the first error. The administrator's intent is then unknown: a policy that was
    ///   loaded earlier must stay in force, and without one, nothing may start.
    package func load() throws(ConfigurationError) -> Policy {
        var policy = Policy()
        for name in try names() {
            let path = "\(folder)/\(name)"
            guard let bytes = try ConfigurationReader.read(path) else { continue }
            try Self.add(bytes, path: path, to: &policy)
        }
        return policy
    }

    /// Adds the restrictions of a file.
    package static func add(
        _ bytes: [UInt8], path: String, to policy: inout Policy
    ) throws(ConfigurationError) {
        for line in try ConfigurationFile.lines(bytes, path: path, sections: sections) {
            guard let key = PolicyKey.named(line.word) else {
                throw .unknownPolicyKey(line.word, path: path, line: line.number)
            }
            guard key.add(line.value, to: &policy, place: "\(path):\(line.number)") else {
                throw .invalidPolicy(line.value, of: key, path: path, line: line.number)
            }
        }
    }

    /// The allowed headings, which are optional.
    private static let sections = ["switches", "forbidden"]

    /// Returns the names that end with `.conf` (opendir(3)). Omits hidden ones, which editors
    /// create.
    private func names() throws(ConfigurationError) -> [String] {
        errno = 0
        // Safe: the folder is closed at the end, and the entry is copied before the next call.
        guard let stream = unsafe opendir(folder) else {
            let error = Errno.current
            if error == .noSuchFile || error == Errno(rawValue: ENOTDIR) { return [] }
            throw .unreadableFile(path: folder, reason: "\(error)")
        }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while true {
            errno = 0
            guard let entry = unsafe readdir(stream) else {
                let error = Errno.current
                guard error.rawValue == 0 else { throw .unreadableFile(path: folder, reason: "\(error)") }
                break
            }
            let bytes = unsafe withUnsafeBytes(of: entry.pointee.d_name) { unsafe Array($0.prefix { $0 != 0 }) }
            guard let name = String(validating: bytes, as: UTF8.self), name.hasSuffix(".conf"), !name.hasPrefix(".")
            else { continue }
            guard names.count < Self.maxFiles else { throw .tooManyFiles(path: folder, limit: Self.maxFiles) }
            names.append(name)
        }
        return names.sorted()
    }
}
