import Glibc
import HandoffModel
import LoopIO

/// Leftovers of this user's interrupted transfers and killed apps, and the sweep that deletes them.
///
/// Parts are in folders chosen by the user. A link in the user's cache records each such folder, so
/// that a later program finds it.
package struct Leftovers: Sendable {
    /// The time in which an interrupted transfer can be continued, in seconds: 14 days.
    package static let maxAge: Int64 = 14 * 86_400
    /// The maximum number of recorded folders.
    private static let maxFolders = 1024

    /// The result of `find`.
    package struct Found: Equatable, Sendable {
        /// The number of parts of files and folders that no program is currently receiving.
        package var parts = 0
        /// Bytes on disk used by the parts of files. Those of folders are not counted.
        package var bytes: Int64 = 0
        /// The folders that contain such parts.
        package var folders: [String] = []
        /// The number of document folders whose apps have ended.
        package var documents = 0

        package init() {}
    }

    private let links: String
    private let documents: String
    private let fetched: String

    /// Creates the value for a cache folder.
    /// - Parameter cache: the user's cache; nil means `$XDG_CACHE_HOME`, or `~/.cache`.
    /// - Returns: nil if neither is known.
    package init?(cache: String? = nil) {
        func value(_ name: String) -> String? {
            ProcessEnvironment.value(name).flatMap { $0.hasPrefix("/") ? $0 : nil }
        }
        guard let folder = cache ?? value("XDG_CACHE_HOME") ?? value("HOME").map({ $0 + "/.cache" }) else { return nil }
        links = folder + "/handoff/receiving"
        documents = folder + "/handoff/documents"
        fetched = folder + "/handoff/fetched"
    }

    /// Records a destination folder. If that fails, its parts are found the next time something is
    /// received into it.
    package func remember(_ folder: String) {
        guard folder.hasPrefix("/"), !folder.hasPrefix(fetched + "/") else { return }
        var path = ""
        for component in links.split(separator: "/") {
            path += "/" + component
            if mkdir(path.systemPath, 0o700) != 0, errno != EEXIST { return }
        }
        let name = Hex.encode(Array(SHA256Hasher.digest(of: folder.systemBytes).bytes.prefix(16)))
        guard (try? FolderListing.names(in: links, limit: Self.maxFolders).count) ?? 0 < Self.maxFolders else { return }
        let link = "\(links)/\(name)".systemPath
        // The modification time of the link is the time of the last transfer.
        if symlink(folder.systemPath, link) != 0, errno == EEXIST {
            _ = utimensat(AT_FDCWD, link, nil, AT_SYMLINK_NOFOLLOW)
        }
    }

    /// Deletes parts that are too old to be continued, documents of apps that have ended, and old
    /// fetched documents.
    /// Blocks while the file systems do.
    /// - Parameter now: seconds since 1970.
    package func sweep(now: Int64) {
        removeDocuments(now: now)
        removeFetched(now: now)
        for (link, path) in remembered {
            // A folder that cannot be opened may be on an unmounted disk.
            if let folder = try? OpenFolder(path: path, calls: KernelCalls()) {
                for part in Self.parts(in: folder) { Self.remove(part, in: folder, now: now) }
            }
            // A new transfer may not have a part yet; all parts of an old one have expired.
            var status = stat()
            let link = "\(links)/\(link)".systemPath
            if lstat(link, &status) == 0, now - Int64(status.st_mtim.tv_sec) > Self.maxAge { _ = unlink(link) }
        }
    }

    /// Deletes the documents of apps that have ended, detected by locks that no process holds.
    /// - Parameters:
    ///   - kept: the name of the folder of this process.
    ///   - now: seconds since 1970.
    package func removeDocuments(except kept: String? = nil, now: Int64) {
        for name in abandoned(now: now) where name != kept {
            guard let lock = Self.locked("\(documents)/\(name).lock", now: now) else { continue }
            // The lock file is deleted last, so that a later process finds what cannot be deleted
            // now.
            if (try? ReceivedContent.remove(folder: "\(documents)/\(name)")) != nil {
                _ = unlink("\(documents)/\(name).lock".systemPath)
            }
            lock.close()
        }
    }

    /// Creates the private folder of a document that is fetched by a program and outlives it. It is
    /// deleted 14 days after the last change of the document.
    /// - Parameter source: identifies the document. The same source has the same folder, so that an
    ///   interrupted fetch can be resumed.
    package func makeFetchedFolder(for source: String) throws(TransferFailure) -> String {
        let place = "\(fetched)/\(Hex.encode(Array(SHA256Hasher.digest(of: Array(source.utf8)).bytes.prefix(16))))"
        do throws(Errno) {
            try FolderCreation.makeFolders(fetched)
            // A user with write access to the parents could replace this folder.
            try FolderCreation.secure(String(fetched.dropLast("/fetched".count)))
            try FolderCreation.secure(fetched)
            try FolderCreation.createFolder(place)
            try FolderCreation.secure(place)
        } catch {
            throw TransferFailure.system("cannot create \(place)", error)
        }
        // It may be an old folder, which would be deleted.
        _ = utimensat(AT_FDCWD, place.systemPath, nil, 0)
        return place
    }

    private func removeFetched(now: Int64) {
        for name in (try? FolderListing.names(in: fetched, limit: 65_536)) ?? [] where Hex.decode(name)?.count == 16 {
            let folder = "\(fetched)/\(name)"
            let entries = (try? FolderListing.names(in: folder, limit: 1024)) ?? []
            let changes = ([folder] + entries.map { "\(folder)/\($0)" }).compactMap { path in
                var status = stat()
                return lstat(path.systemPath, &status) == 0 ? Int64(status.st_ctim.tv_sec) : nil
            }
            // A document that cannot be deleted now is deleted later.
            if let last = changes.max(), now - last > Self.maxAge { try? ReceivedContent.remove(folder: folder) }
        }
    }

    /// Counts the leftovers.
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
            // The lock is released at the end of the iteration.
            if Self.locked("\(documents)/\(name).lock", now: now) != nil { found.documents += 1 }
        }
        return found
    }

    // MARK: - Parts

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

    /// Returns the parts in a folder that belong to this user.
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

    /// Locks a file or folder until it is closed.
    /// - Returns: true if another program holds the lock; false if the file system has no locks.
    private static func isLocked(_ number: Int32) -> Bool {
        flock(number, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK
    }

    /// Deletes a part that is old and that no program is receiving. Ignores errors.
    private static func remove(_ part: Part, in folder: OpenFolder, now: Int64) {
        // st_ctim, because the sender chooses st_mtim.
        guard now - Int64(part.status.st_ctim.tv_sec) > maxAge, let descriptor = opened(part, in: folder),
            !isLocked(descriptor.raw)
        else { return }
        let isFolder = part.status.st_mode & S_IFMT == S_IFDIR
        if isFolder { try? FolderTree.empty(descriptor.raw) }
        _ = unlinkat(folder.raw, part.name, isFolder ? AT_REMOVEDIR : 0)
    }

    // MARK: - Documents

    /// Returns the folders that have lock files and may belong to apps that have ended.
    private func abandoned(now: Int64) -> [String] {
        let names = (try? FolderListing.names(in: documents, limit: 65_536)) ?? []
        return names.compactMap { file in
            let name = file.dropLast(".lock".utf8.count)
            return file.hasSuffix(".lock") && Self.isIdentifier(name) ? String(name) : nil
        }
    }

    /// Opens and locks a lock file until the returned value is released. Returns nil if a process
    /// holds the lock. If the file system has no locks, the age decides.
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

    /// Returns true if the name is a UUID, as are the names of document folders.
    private static func isIdentifier(_ name: Substring) -> Bool {
        let groups = name.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        return groups.map(\.count) == [8, 4, 4, 4, 12]
            && name.utf8.allSatisfy { $0 == UInt8(ascii: "-") || Character(Unicode.Scalar($0)).isHexDigit }
    }
}
