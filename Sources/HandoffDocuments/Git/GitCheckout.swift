import HandoffModel
import LoopIO

/// A checkout of a Git repository.
package struct GitCheckout: Hashable, Sendable {
    package let path: String
    /// The repository; nil without a remote `origin` that other devices could identify.
    package let identity: RepositoryIdentity?
    /// True if it is a submodule, whose documents also belong to the containing checkout.
    package let isPart: Bool

    /// Examines a folder. Returns nil if it is not a checkout. Blocks while the file system does.
    package init?(at path: String) {
        let git = path + "/.git"
        switch FileTree.kind(of: git) {
        case .folder:
            isPart = false
            identity = Self.identity(git)
        case .file:
            guard let folder = Self.link(git).map({ Self.absolute($0, in: path) }) else { return nil }
            // The administrative folder of a worktree refers to the common one.
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

    /// Returns the target of a `.git` file (gitrepository-layout(5)).
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
