import Glibc
import HandoffModel
import LoopIO

/// Leftovers of interrupted transfers and killed apps of this user, and the sweep that deletes them.
///
/// Parts are in the folders of the users' choice. Each such folder is remembered by a link to it in the user's cache, so that a
/// later program finds it.
package struct Leftovers: Sendable {
    /// For how long an interrupted transfer can be continued, in seconds: 14 days.
    package static let maxAge: Int64 = 14 * 86_400
    /// Folders that are remembered.
    private static let maxFolders = 1024

    /// The result.
    package struct Found: Equatable, Sendable {
        /// Parts of files and folders that no program is receiving at this moment.
        package var parts = 0
        /// Bytes that the parts of files take on their disks; those of folders are not counted.
        package var bytes: Int64 = 0
        /// The folders with such parts.
        package var folders: [String] = []
        /// Folders of documents whose apps have ended.
        package var documents = 0

        package init() {}
    }

    private let links: String
    private let documents: String

    /// - Parameter cache: the user's cache, or nil for `$XDG_CACHE_HOME`, or `~/.cache`. Nil is returned where neither is known.
    package init?(cache: String? = nil) {
        func value(_ name: String) -> String? {
            ProcessEnvironment.value(name).flatMap { $0.hasPrefix("/") ? $0 : nil }
        }
        guard let folder = cache ?? value("XDG_CACHE_HOME") ?? value("HOME").map({ $0 + "/.cache" }) else { return nil }
        links = folder + "/handoff/receiving"
        documents = folder + "/handoff/documents"
    }

    /// Remembers a folder into which something is received. Where that is not possible, its parts are found when something is received
    /// into it again.
    package func remember(_ folder: String) {
        guard folder.hasPrefix("/") else { return }
        var path = ""
        for component in links.split(separator: "/") {
            path += "/" + component
            if mkdir(path.systemPath, 0o700) != 0, errno != EEXIST { return }
        }
        let name = Hex.encode(Array(SHA256Hasher.digest(of: folder.systemBytes).bytes.prefix(16)))
        guard (try? FolderListing.names(in: links, limit: Self.maxFolders).count) ?? 0 < Self.maxFolders else { return }
        let link = "\(links)/\(name)".systemPath
        // The time of the link is that of the last transfer.
        if symlink(folder.systemPath, link) != 0, errno == EEXIST {
            _ = utimensat(AT_FDCWD, link, nil, AT_SYMLINK_NOFOLLOW)
        }
    }

    /// Deletes parts that are too old to be continued, and documents of apps that have ended. Blocks for as long as the file
    /// systems do.
    /// - Parameter now: seconds since 1970.
    package func sweep(now: Int64) {
        removeDocuments(now: now)
        for (link, path) in remembered {
            // A folder that cannot be opened may be on a disk that is not mounted.
            if let folder = try? OpenFolder(path: path, calls: KernelCalls()) {
                for part in Self.parts(in: folder) { Self.remove(part, in: folder, now: now) }
            }
            // A transfer that starts now has no part yet, and all parts of an old one were old.
            var status = stat()
            let link = "\(links)/\(link)".systemPath
            if lstat(link, &status) == 0, now - Int64(status.st_mtim.tv_sec) > Self.maxAge { _ = unlink(link) }
        }
    }

    /// Deletes folders of documents whose apps have ended: no process holds their locks.
    /// - Parameters:
    ///   - kept: the name of the folder of this process.
    ///   - now: seconds since 1970.
    package func removeDocuments(except kept: String? = nil, now: Int64) {
        for name in abandoned(now: now) where name != kept {
            guard let lock = Self.locked("\(documents)/\(name).lock", now: now) else { continue }
            // Its lock file is last: by it a later process finds what cannot be deleted now.
            if (try? ReceivedContent.remove(folder: "\(documents)/\(name)")) != nil {
                _ = unlink("\(documents)/\(name).lock".systemPath)
            }
            lock.close()
        }
    }

    /// Counts what is left.
    package func find(now: Int64) -> Found {
        var found = Found()
        for (_, path) in remembered {
            guard let folder = try? OpenFolder(path: path, calls: KernelCalls()) else { continue }
            var hasParts = false
            for part in Self.parts(in: folder) {
                guard let descriptor = Self.opened(part, in: folder), !Self.isLocked(descriptor.raw) else { continue }
                hasParts = true
                found.parts += 1
                if part.status.st_mode & S_IFMT == S_IFREG { found.bytes += Int64(part.status.st_blocks) * 512 }
            }
            if hasParts { found.folders.append(path) }
        }
        found.folders.sort()
        for name in abandoned(now: now) {
            // Released again at the end of the turn.
            if Self.locked("\(documents)/\(name).lock", now: now) != nil { found.documents += 1 }
        }
        return found
    }

    // MARK: - Parts

    /// A part in a folder.
    private struct Part {
        let name: [CChar]
        let status: stat
    }

    private var remembered: [(link: String, path: String)] {
        let names = (try? FolderListing.names(in: links, limit: Self.maxFolders)) ?? []
        return names.compactMap { link in
            FolderListing.target(ofLink: "\(links)/\(link)").map { (link, $0) }
        }
    }

    /// The parts in a folder that are this user's.
    private static func parts(in folder: OpenFolder) -> [Part] {
        ((try? FolderTree.names(in: folder.raw)) ?? []).compactMap { name in
            guard FileName.isPart(name.dropLast().map(UInt8.init(bitPattern:))) else { return nil }
            var status = stat()
            guard fstatat(folder.raw, name, &status, AT_SYMLINK_NOFOLLOW) == 0, status.st_uid == geteuid() else {
                return nil
            }
            let kind = status.st_mode & S_IFMT
            return kind == S_IFDIR || kind == S_IFREG && status.st_nlink == 1 ? Part(name: name, status: status) : nil
        }
    }

    private static func opened(_ part: Part, in folder: OpenFolder) -> Descriptor? {
        let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
        let number = openat(folder.raw, part.name, flags)
        guard number >= 0 else { return nil }
        let descriptor = Descriptor(owning: number)
        var status = stat()
        guard fstat(number, &status) == 0, status.st_ino == part.status.st_ino, status.st_dev == part.status.st_dev
        else { return nil }
        return descriptor
    }

    /// Locks something until it is closed.
    /// - Returns: whether another program holds the lock. Where the file system has no locks none does.
    private static func isLocked(_ number: Int32) -> Bool {
        flock(number, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK
    }

    /// Deletes a part that is old and that no program receives. What cannot be deleted stays.
    private static func remove(_ part: Part, in folder: OpenFolder, now: Int64) {
        // The time of the last change of anything: a sender chooses the other one.
        guard now - Int64(part.status.st_ctim.tv_sec) > maxAge, let descriptor = opened(part, in: folder),
            !isLocked(descriptor.raw)
        else { return }
        let isFolder = part.status.st_mode & S_IFMT == S_IFDIR
        if isFolder { try? FolderTree.empty(descriptor.raw) }
        _ = unlinkat(folder.raw, part.name, isFolder ? AT_REMOVEDIR : 0)
    }

    // MARK: - Documents

    /// The folders that may be those of apps that have ended, by their lock files.
    private func abandoned(now: Int64) -> [String] {
        let names = (try? FolderListing.names(in: documents, limit: 65_536)) ?? []
        return names.compactMap { file in
            let name = file.dropLast(".lock".utf8.count)
            return file.hasSuffix(".lock") && Self.isIdentifier(name) ? String(name) : nil
        }
    }

    /// A lock that no process holds, locked until the value ends; nil for one that is held. Where the file system has no locks, age decides.
    private static func locked(_ path: String, now: Int64) -> Descriptor? {
        let number = open(path.systemPath, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard number >= 0 else { return nil }
        let descriptor = Descriptor(owning: number)
        if flock(number, LOCK_EX | LOCK_NB) == 0 { return descriptor }
        var status = stat()
        guard errno != EWOULDBLOCK, fstat(number, &status) == 0, now - Int64(status.st_ctim.tv_sec) > maxAge else {
            return nil
        }
        return descriptor
    }

    /// True if a name is that of a folder for documents: a UUID.
    private static func isIdentifier(_ name: Substring) -> Bool {
        let groups = name.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        return groups.map(\.count) == [8, 4, 4, 4, 12]
            && name.utf8.allSatisfy { $0 == UInt8(ascii: "-") || Character(Unicode.Scalar($0)).isHexDigit }
    }
}
