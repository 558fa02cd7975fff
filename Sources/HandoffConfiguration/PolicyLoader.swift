internal import Glibc
internal import LoopIO

/// Reads the administrator's policy: all `*.conf` of a folder, in the order of their names. Blocks for as long as the
/// file system does: to be used at start and on SIGHUP only.
package struct PolicyLoader: Sendable {
    /// The folder, which belongs to the administrator.
    package static let systemFolder = "/etc/handoff/policy.d"
    /// The most files that are read.
    static let maxFiles = 256

    private let folder: String

    /// A loader that can be used again, when the files may have changed.
    package init(folder: String = PolicyLoader.systemFolder) {
        self.folder = folder
    }

    /// The policy as it is now; that of no folder forbids nothing.
    ///
    /// - Throws: at the first thing that is wrong. Then nobody knows what the administrator wants to forbid, so that what
    ///   was read before has to stay in force, and without that nothing may begin.
    package func load() throws(ConfigurationError) -> Policy {
        var policy = Policy()
        for name in try names() {
            let path = "\(folder)/\(name)"
            guard let bytes = try ConfigurationReader.read(path) else { continue }
            try Self.add(bytes, path: path, to: &policy)
        }
        return policy
    }

    /// Adds what a file forbids.
    package static func add(
        _ bytes: [UInt8], path: String, to policy: inout Policy
    ) throws(ConfigurationError) {
        for line in try ConfigurationFile.lines(bytes, path: path, sections: sections) {
            guard let key = PolicyKey(rawValue: line.word) else {
                throw .unknownPolicyKey(line.word, path: path, line: line.number)
            }
            guard policy.add(key, line.value, place: "\(path):\(line.number)") else {
                throw .invalidPolicy(line.value, of: key, path: path, line: line.number)
            }
        }
    }

    /// The headings that may stand in a policy, for the reader's eye.
    private static let sections = ["switches", "forbidden"]

    /// The names that end with `.conf` (opendir(3)); those that begin with a dot are left out, as editors leave them.
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
