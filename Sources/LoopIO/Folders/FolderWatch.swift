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

    /// One buffer holds many events; the kernel gives whole ones.
    private static let bufferSize = 16_384
    /// Buffers that are read in one turn of the loop; the rest comes in the next.
    private static let buffersInTurn = 8

    private let descriptor: Descriptor
    private var source: EventSource?
    /// The watches by path. Several paths may lead to one folder, and then have one watch.
    private var watches: [String: Int32] = [:]
    /// What of each watched folder is of interest.
    private var interests: [Int32: Interest] = [:]
    /// Called after something changed, once for what came together.
    private let onChange: () -> Void

    /// A watch of no folder.
    /// - Throws: an error of inotify_init1(2): this user has too many (EMFILE).
    package init(on loop: EventLoop, onChange: @escaping () -> Void) throws(Errno) {
        descriptor = Descriptor(owning: try SystemCall.retrying { inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC)) })
        self.onChange = onChange
        source = try loop.watch(descriptor.raw, .readable) { [weak self] _ in self?.read() }
    }

    deinit {
        // The source ends before its descriptor is closed.
        source?.cancel()
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
            let number = inotify_add_watch(descriptor.raw, path, Self.mask)
            guard number >= 0 else {
                // Not for a lack of watches (ENOSPC), which looking anew would not mend.
                isNew = isNew || [ENOENT, ENOTDIR].contains(errno)
                continue
            }
            isNew = isNew || watches[path] != number
            present[path] = number
            interests[number] = interests[number].map { $0.union(interest) } ?? interest
        }
        for number in Set(watches.values).subtracting(interests.keys) {
            // Fails for a folder that is gone already.
            _ = inotify_rm_watch(descriptor.raw, number)
        }
        watches = present
        self.interests = interests
        return isNew
    }

    private static let mask = UInt32(
        IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_CLOSE_WRITE | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF
            | IN_ONLYDIR)
    private static let goneMask = UInt32(IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED | IN_UNMOUNT)

    private func read() {
        var hasChanged = false
        for _ in 0..<Self.buffersInTurn {
            var buffer = [UInt8](repeating: 0, count: Self.bufferSize)
            // Would-block ends it; anything else only means that there was nothing.
            let count = Glibc.read(descriptor.raw, &buffer, buffer.count)
            guard count > 0 else { break }
            hasChanged = take(buffer[..<count]) || hasChanged
        }
        if hasChanged { onChange() }
    }

    /// Reads `struct inotify_event`s: watch, mask, cookie and length, of 4 bytes each, and a name with NULs behind it.
    private func take(_ bytes: ArraySlice<UInt8>) -> Bool {
        var hasChanged = false
        var rest = bytes
        while rest.count >= 16 {
            let words = (0..<4).map { index in
                rest.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: index * 4, as: UInt32.self) }
            }
            let length = Int(words[3])
            guard rest.count >= 16 + length else { break }
            let name = rest.dropFirst(16).prefix(length).prefix { $0 != 0 }
            rest = rest.dropFirst(16 + length)
            hasChanged = matters(Int32(bitPattern: words[0]), words[1], name) || hasChanged
        }
        return hasChanged
    }

    private func matters(_ watch: Int32, _ mask: UInt32, _ name: ArraySlice<UInt8>) -> Bool {
        if mask & UInt32(IN_Q_OVERFLOW) != 0 { return true }
        // Of a watch that was ended.
        guard let interest = interests[watch] else { return false }
        if mask & Self.goneMask != 0 {
            if mask & UInt32(IN_IGNORED) != 0 { watches = watches.filter { $0.value != watch } }
            return true
        }
        switch interest {
        case .anything: return true
        case .names(let names): return names.contains { $0.utf8.elementsEqual(name) }
        }
    }
}
