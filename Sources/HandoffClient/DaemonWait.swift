package import HandoffModel
package import LoopIO

/// Waits for the next attempt to reach the daemon: until its socket appears, or until a delay has
/// passed.
///
/// Used on the loop's thread only. Releasing it ends the wait. Keep it from one attempt to the
/// next, so that no event is lost in between.
package final class DaemonWait {
    /// The interval of attempts while the socket's folder is watched, for file systems that report
    /// no events.
    private static let watchedInterval = Duration.seconds(60)

    private let loop: EventLoop
    private let folders: [String: FolderWatch.Interest]
    private let then: (_ appeared: Bool) -> Void
    private var timer: LoopTimer?
    /// Nil if this user has too many watches. Attempts are then as frequent as without a watch.
    private var watch: FolderWatch?

    /// Creates a wait for the daemon whose socket has this path.
    /// - Parameter then: makes the next attempt, once for each `wait`. Receives whether the socket
    ///   has changed.
    package init(for path: String, on loop: EventLoop, then: @escaping (_ appeared: Bool) -> Void) {
        self.loop = loop
        self.then = then
        // The daemon may have to create the folder, too.
        let (folder, name) = Self.split(path)
        let (parent, folderName) = Self.split(folder)
        folders = [folder: FolderWatch.Interest.names([name])].merging([parent: .names([folderName])]) { own, _ in own }
        watch = try? FolderWatch(on: loop) { [weak self] in self?.folderChanged() }
        _ = watch?.setFolders(folders)
    }

    /// Waits for the next delay, or for one minute once the delay no longer grows, unless the
    /// socket appears first.
    package func wait(_ backoff: inout Backoff) {
        let delay = backoff.next()
        let isLongest = watch != nil && delay >= backoff.maxDelay
        timer = loop.timer(after: isLongest ? max(delay, Self.watchedInterval) : delay) { [weak self] in
            self?.end(appeared: false)
        }
    }

    private func folderChanged() {
        _ = watch?.setFolders(folders)
        end(appeared: true)
    }

    private func end(appeared: Bool) {
        guard timer != nil else { return }
        timer = nil
        then(appeared)
    }

    private static func split(_ path: String) -> (folder: String, name: String) {
        guard let slash = path.lastIndex(of: "/") else { return (".", path) }
        let folder = path[..<slash]
        return (folder.isEmpty ? "/" : String(folder), String(path[path.index(after: slash)...]))
    }
}
