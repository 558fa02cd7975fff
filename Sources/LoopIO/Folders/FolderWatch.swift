import Glibc

/// A watch that reports changes in a set of folders (inotify(7)). Use it on the loop's thread only.
/// Releasing it ends the watch.
///
/// It does not report what changed, because events may be lost. The owner must read the folders
/// again.
package final class FolderWatch {
    /// The changes in a folder to report.
    package enum Interest: Sendable, Equatable {
        /// Any file or folder that is added, removed or written.
        case anything
        /// Only these names, for example to detect the creation of a folder that does not exist
        /// yet.
        case names(Set<String>)

        fileprivate func union(_ other: Interest) -> Interest {
            switch (self, other) {
            case (.names(let mine), .names(let theirs)): .names(mine.union(theirs))
            case (.anything, _), (_, .anything): .anything
            }
        }
    }

    private let events: FolderEvents
    /// The watch descriptors by path. Several paths may lead to one folder, and then share a watch.
    private var watches: [String: Int32] = [:]
    /// The changes to report, by watch descriptor.
    private var interests: [Int32: Interest] = [:]
    /// A change has not been reported yet.
    private var hasChanged = false
    /// Called after a change, once for several changes that arrive together.
    private let onChange: () -> Void

    /// Creates a watch without folders.
    /// - Throws: an error of inotify_init1(2): this user has too many instances (EMFILE).
    package init(on loop: EventLoop, onChange: @escaping () -> Void) throws(Errno) {
        events = try loop.sharedFolderEvents()
        self.onChange = onChange
        events.add(self)
    }

    deinit {
        events.removeWatches(Set(interests.keys))
    }

    /// Replaces the set of watched folders. Folders that do not exist or are not readable are
    /// skipped.
    ///
    /// - Returns: true if the owner must read the folders again: because a folder is newly watched
    ///   and may have changed in the meantime, or because one has been removed since it was last
    ///   read, together with the report of its removal.
    package func setFolders(_ wanted: [String: Interest]) -> Bool {
        var isNew = false
        var present: [String: Int32] = [:]
        var interests: [Int32: Interest] = [:]
        for (path, interest) in wanted {
            do throws(Errno) {
                let number = try events.addWatch(path)
                isNew = isNew || watches[path] != number
                present[path] = number
                interests[number] = interests[number].map { $0.union(interest) } ?? interest
            } catch {
                // Not for a lack of watches (ENOSPC), which reading again would not fix.
                isNew = isNew || [ENOENT, ENOTDIR].contains(error.rawValue)
            }
        }
        let ended = Set(watches.values).subtracting(interests.keys)
        watches = present
        self.interests = interests
        events.removeWatches(ended)
        return isNew
    }

    /// Returns true if the folder with this watch descriptor is watched here.
    func isWatching(_ number: Int32) -> Bool { interests[number] != nil }

    /// Processes an event of any folder that is watched on the loop.
    func note(_ event: FolderEvents.Event) {
        hasChanged = concerns(event) || hasChanged
    }

    /// Calls `onChange` if a change has not been reported yet.
    func notify() {
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
