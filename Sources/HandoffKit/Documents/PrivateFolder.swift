import Foundation
import Glibc
import HandoffTransfer
import LoopIO

/// The folder for documents of other devices, below the user's cache: for this process alone, and deleted by a later one when this
/// one could not. Used on the thread for files.
final class PrivateFolder {
    /// Where it is; made by `make`.
    let path: String
    /// How often a lock file is made: each time that another process takes it away makes that less likely for the next.
    private static let maxAttempts = 16

    private let cache: String
    private let parent: String
    private let name: String
    private var lock: Descriptor?

    /// A folder that is not made yet, with a random name.
    /// - Parameter cache: the user's cache; nil for `$XDG_CACHE_HOME`, or `~/.cache`.
    init(cache: String?) {
        self.cache = cache ?? Self.cache
        parent = self.cache + "/handoff/documents"
        name = UUID().uuidString.lowercased()
        path = parent + "/" + name
    }

    deinit {
        remove()
    }

    /// Deletes it with everything in it.
    func remove() {
        guard lock != nil else { return }
        // What cannot be deleted now, a later process deletes.
        try? Self.delete(path)
        lock = nil
    }

    /// Makes the folder for one document, and first of all itself, of mode 0700.
    /// - Returns: the path of the document's folder.
    /// - Throws: what makes it impossible.
    func make(_ number: Int) throws(TransferFailure) -> String {
        let place = folder(number)
        do throws(Errno) {
            if lock == nil {
                try FileTreeMaking.makeFolders(parent)
                // Whoever could write there could put a folder of theirs in the place of ours.
                try FileTreeMaking.claim((parent as NSString).deletingLastPathComponent)
                try FileTreeMaking.claim(parent)
                removeOthers()
                let held = try Self.hold(path + ".lock")
                try FileTreeMaking.makeNewFolder(path)
                lock = consume held
            }
            try FileTreeMaking.makeFolder(place)
        } catch {
            throw TransferFailure.system("cannot make \(place)", error)
        }
        return place
    }

    /// The folder of a document.
    func folder(_ number: Int) -> String { "\(path)/\(number)" }

    /// Deletes what apps have left that were killed.
    func removeOthers() {
        Leftovers(cache: cache)?.removeDocuments(except: name, now: Int64(time(nil)))
    }

    /// Deletes a folder whose lock is held, and then its lock file, by which a later process finds it otherwise.
    private static func delete(_ path: String) throws(Errno) {
        try ReceivedContent.remove(folder: path)
        _ = unlink((path + ".lock").systemPath)
    }

    /// Makes a lock file, and locks it for as long as the descriptor is open. On a file system without locks nobody does.
    private static func hold(_ path: String) throws(Errno) -> Descriptor {
        // A process that cleans up may have locked it first, and has deleted it then: another one is made.
        for _ in 0..<Self.maxAttempts {
            let file = try open(path, O_CREAT)
            guard (try? lock(file)) != nil else { return file }
            var status = stat()
            if fstat(file.raw, &status) == 0, status.st_nlink > 0 { return file }
        }
        throw .wouldBlock
    }

    private static func open(_ path: String, _ flags: Int32 = 0) throws(Errno) -> Descriptor {
        Descriptor(
            owning: try SystemCall.retrying {
                Glibc.open(path.systemPath, O_RDWR | O_NOFOLLOW | O_CLOEXEC | flags, 0o600)
            })
    }

    /// Locks a file (flock(2)).
    private static func lock(_ file: borrowing Descriptor, _ flags: Int32 = 0) throws(Errno) {
        let raw = file.raw
        try SystemCall.retrying { flock(raw, LOCK_EX | flags) }
    }

    private static var cache: String {
        if let folder = ProcessEnvironment.value("XDG_CACHE_HOME"), folder.hasPrefix("/") { return folder }
        let home = ProcessEnvironment.value("HOME") ?? NSHomeDirectory()
        return home + "/.cache"
    }
}

/// Folders that only their owner may look into.
private enum FileTreeMaking {
    /// Makes a folder and those above it that are missing.
    static func makeFolders(_ path: String) throws(Errno) {
        do throws(Errno) {
            try makeFolder(path)
        } catch .noSuchFile {
            let parent = (path as NSString).deletingLastPathComponent
            guard parent != path, !parent.isEmpty else { throw .noSuchFile }
            try makeFolders(parent)
            try makeFolder(path)
        }
    }

    /// Makes a folder of mode 0700, unless it is there.
    static func makeFolder(_ path: String) throws(Errno) {
        do throws(Errno) {
            try makeNewFolder(path)
        } catch .exists {}
    }

    /// Makes a folder of mode 0700.
    /// - Throws: EEXIST when there is something of that name.
    static func makeNewFolder(_ path: String) throws(Errno) {
        try SystemCall.retrying { mkdir(path.systemPath, 0o700) }
    }

    /// Sees to it that nobody else can write in a folder.
    /// - Throws: EACCES for another user's folder, or link.
    static func claim(_ path: String) throws(Errno) {
        var link = stat()
        try SystemCall.retrying { lstat(path.systemPath, &link) }
        let folder = Descriptor(
            owning: try SystemCall.retrying { open(path.systemPath, O_RDONLY | O_DIRECTORY | O_CLOEXEC) })
        let raw = folder.raw
        var status = stat()
        try SystemCall.retrying { fstat(raw, &status) }
        guard link.st_uid == geteuid(), status.st_uid == geteuid() else { throw .permissionDenied }
        let mode = status.st_mode & 0o777
        guard mode & 0o022 != 0 else { return }
        try SystemCall.retrying { fchmod(raw, mode & ~0o022) }
    }
}
