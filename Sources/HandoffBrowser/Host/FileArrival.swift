import LoopIO

/// Reports when one of some files may have been created or removed, without polling. Use on the
/// loop's thread.
///
/// If a parent folder does not exist, the nearest existing one is watched for the next component of
/// the path.
final class FileArrival {
    /// The maximum number of attempts to set the watch while folders are created and removed.
    private static let maxAttempts = 16

    private let paths: [String]
    private let onChange: () -> Void
    private var watch: FolderWatch?

    /// - Parameter paths: Absolute paths.
    /// - Throws: An error of inotify_init1(2).
    init(of paths: [String], on loop: EventLoop, onChange: @escaping () -> Void) throws(Errno) {
        self.paths = paths
        self.onChange = onChange
        watch = try FolderWatch(on: loop) { [weak self] in
            self?.updateWatch()
            self?.onChange()
        }
        updateWatch()
    }

    private func updateWatch() {
        var rest = Self.maxAttempts
        while rest > 0, watch?.setFolders(folders()) == true { rest -= 1 }
    }

    private func folders() -> [String: FolderWatch.Interest] {
        var folders: [String: Set<String>] = [:]
        for path in paths {
            var rest = path[...]
            while let slash = rest.lastIndex(of: "/") {
                let name = String(rest[rest.index(after: slash)...])
                rest = rest[..<slash]
                let folder = rest.isEmpty ? "/" : String(rest)
                guard FolderListing.isFolder(folder) else { continue }
                folders[folder, default: []].insert(name)
                break
            }
        }
        return folders.mapValues { .names($0) }
    }
}
