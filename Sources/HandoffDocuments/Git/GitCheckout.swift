import HandoffModel
import LoopIO

/// A folder in which a repository is checked out.
package struct GitCheckout: Hashable, Sendable {
    /// Its path.
    package let path: String
    /// Which repository; nil when it has no remote `origin` that another device could know.
    package let identity: RepositoryIdentity?
    /// Whether it is one of a bigger checkout (a submodule), in which its documents have a place as well.
    package let isPart: Bool

    /// Reads what is in a folder; nil when it is no checkout. Blocks for as long as the file system does.
    package init?(at path: String) {
        let git = path + "/.git"
        switch FileTree.kind(of: git) {
        case .folder:
            isPart = false
            identity = Self.identity(git)
        case .file:
            guard let folder = Self.link(git).map({ Self.absolute($0, in: path) }) else { return nil }
            // The administrative folder of a worktree names the one that it shares with the others.
            if let common = Self.line(folder + "/commondir") {
                isPart = false
                identity = Self.identity(Self.absolute(common, in: folder))
            } else {
                isPart = true
                identity = Self.identity(folder)
            }
        case .other, nil: return nil
        }
        self.path = path
    }

    private static func identity(_ folder: String) -> RepositoryIdentity? {
        guard let bytes = FileTree.read(folder + "/config", limit: GitConfig.byteLimit) else { return nil }
        return GitConfig.origin(bytes).flatMap(RepositoryIdentity.init(remote:))
    }

    /// Where a `.git` file leads (gitrepository-layout(5)).
    private static func link(_ path: String) -> String? {
        guard let line = line(path), line.hasPrefix("gitdir:") else { return nil }
        let target = line.dropFirst("gitdir:".count).drop { $0 == " " }
        return target.isEmpty ? nil : String(target)
    }

    private static func line(_ path: String) -> String? {
        guard let bytes = FileTree.read(path, limit: 8192), !bytes.contains(0),
            let text = String(validating: bytes.prefix { $0 != 0x0A && $0 != 0x0D }, as: UTF8.self), !text.isEmpty
        else { return nil }
        return text
    }

    private static func absolute(_ path: String, in folder: String) -> String {
        path.hasPrefix("/") ? path : folder + "/" + path
    }
}
