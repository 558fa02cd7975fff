import LoopIO

/// Tells when one of some files may have come or gone, and costs nothing until then. Used on the loop's thread only.
///
/// The folders in which they are may be missing as well: then the nearest one above that exists is watched for the next name on
/// the way.
final class FileArrival {
    /// Folders that come and go while they are looked for are not followed further than this.
    private static let patience = 16

    private let paths: [String]
    private let onChange: () -> Void
    private var watch: FolderWatch?

    /// - Parameter paths: absolute.
    /// - Throws: an error of inotify_init1(2).
    init(of paths: [String], on loop: EventLoop, onChange: @escaping () -> Void) throws(Errno) {
        self.paths = paths
        self.onChange = onChange
        watch = try FolderWatch(on: loop) { [weak self] in
            self?.look()
            self?.onChange()
        }
        look()
    }

    private func look() {
        var rest = Self.patience
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
