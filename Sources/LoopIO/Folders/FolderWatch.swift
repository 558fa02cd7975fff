import Glibc

/// Tells that something in some folders has changed (inotify(7)). Used on the loop's thread only; dropping it ends the watch.
///
/// What changed is not said, since events may be lost: who watches looks anew.
package final class FolderWatch {
    /// What of a folder is of interest.
    package enum Interest: Sendable, Equatable {
        /// Files and folders that come, go or are written.
        case anything
        /// The coming of these names alone, as of a folder that is missing so far.
        case names(Set<String>)

        fileprivate func union(_ other: Interest) -> Interest {
            switch (self, other) {
            case (.names(let mine), .names(let theirs)): .names(mine.union(theirs))
            case (.anything, _), (_, .anything): .anything
            }
        }
    }

    private let events: FolderEvents
    /// The watches by path. Several paths may lead to one folder, and then have one watch.
    private var watches: [String: Int32] = [:]
    /// What of each watched folder is of interest.
    private var interests: [Int32: Interest] = [:]
    /// Whether something has changed and was not told yet.
    private var hasChanged = false
    /// Called after something changed, once for what came together.
    private let onChange: () -> Void

    /// A watch of no folder.
    /// - Throws: an error of inotify_init1(2): this user has too many (EMFILE).
    package init(on loop: EventLoop, onChange: @escaping () -> Void) throws(Errno) {
        events = try loop.sharedFolderEvents()
        self.onChange = onChange
        events.add(self)
    }

    deinit {
        events.end(Set(interests.keys))
    }

    /// Watches these folders, and no others any more. Folders that are missing, or may not be read, are left out.
    ///
    /// - Returns: whether to look anew: a folder is watched that was not before, and may have changed meanwhile, or one is gone
    ///   since it was looked at, and what was told of its end with it.
    package func setFolders(_ wanted: [String: Interest]) -> Bool {
        var isNew = false
        var present: [String: Int32] = [:]
        var interests: [Int32: Interest] = [:]
        for (path, interest) in wanted {
            do throws(Errno) {
                let number = try events.begin(path)
                isNew = isNew || watches[path] != number
                present[path] = number
                interests[number] = interests[number].map { $0.union(interest) } ?? interest
            } catch {
                // Not for a lack of watches (ENOSPC), which looking anew would not mend.
                isNew = isNew || [ENOENT, ENOTDIR].contains(error.rawValue)
            }
        }
        let ended = Set(watches.values).subtracting(interests.keys)
        watches = present
        self.interests = interests
        events.end(ended)
        return isNew
    }

    /// Whether a folder that the kernel has this number for is watched here.
    func isWatching(_ number: Int32) -> Bool { interests[number] != nil }

    /// Takes an event of any folder that is watched on the loop.
    func note(_ event: FolderEvents.Event) {
        hasChanged = concerns(event) || hasChanged
    }

    /// Says that something has changed, if that is so.
    func tell() {
        guard hasChanged else { return }
        hasChanged = false
        onChange()
    }

    private func concerns(_ event: FolderEvents.Event) -> Bool {
        if event.mask & UInt32(IN_Q_OVERFLOW) != 0 { return true }
        guard let interest = interests[event.watch] else { return false }
        if event.mask & Self.goneMask != 0 {
            if event.mask & UInt32(IN_IGNORED) != 0 { watches = watches.filter { $0.value != event.watch } }
            return true
        }
        switch interest {
        case .anything: return true
        case .names(let names): return names.contains { $0.utf8.elementsEqual(event.name) }
        }
    }

    private static let goneMask = UInt32(IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED | IN_UNMOUNT)
}
