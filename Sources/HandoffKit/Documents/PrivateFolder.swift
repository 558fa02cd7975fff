import Foundation
import Glibc
import HandoffTransfer
import LoopIO

/// The folder for documents of other devices, in the user's cache. It belongs to this process. If
/// this process cannot delete it, a later one does. Used on the document thread.
final class PrivateFolder {
    /// The path of the folder, which is created by `make`.
    let path: String
    /// The maximum number of attempts to create a lock file. Each time another process deletes one,
    /// a further collision is less likely.
    private static let maxAttempts = 16

    private let cache: String
    private let parent: String
    private let name: String
    private var lock: Descriptor?

    /// Prepares a folder with a random name, without creating it.
    /// - Parameter cache: the user's cache folder; nil for `$XDG_CACHE_HOME`, or `~/.cache`.
    init(cache: String?) {
        self.cache = cache ?? Self.cache
        parent = self.cache + "/handoff/documents"
        name = UUID().uuidString.lowercased()
        path = parent + "/" + name
    }

    deinit {
        remove()
    }

    func remove() {
        guard lock != nil else { return }
        // A later process deletes whatever cannot be deleted now.
        try? Self.delete(path)
        lock = nil
    }

    /// Creates the folder for one document and, on first use, this folder, with mode 0700.
    /// - Returns: the path of the document's folder.
    /// - Throws: the error that prevents it.
    func make(_ number: Int) throws(TransferFailure) -> String {
        let place = folder(number)
        do throws(Errno) {
            if lock == nil {
                try FolderCreation.makeFolders(parent)
                // A user with write access to the parents could replace this folder.
                try FolderCreation.secure((parent as NSString).deletingLastPathComponent)
                try FolderCreation.secure(parent)
                removeOthers()
                let lockFile = try Self.createLocked(path + ".lock")
                try FolderCreation.makeNewFolder(path)
                lock = consume lockFile
            }
            try FolderCreation.createFolder(place)
        } catch {
            throw TransferFailure.system("cannot create \(place)", error)
        }
        return place
    }

    func folder(_ number: Int) -> String { "\(path)/\(number)" }

    /// Deletes folders left behind by apps that were killed.
    func removeOthers() {
        Leftovers(cache: cache)?.removeDocuments(except: name, now: Int64(time(nil)))
    }

    /// Deletes a folder whose lock is held, and then its lock file. Until then a later process can
    /// find the folder by its lock file.
    private static func delete(_ path: String) throws(Errno) {
        try ReceivedContent.remove(folder: path)
        _ = unlink((path + ".lock").systemPath)
    }

    /// Creates a lock file that is locked while the descriptor is open. On a file system without
    /// locks it stays unlocked.
    private static func createLocked(_ path: String) throws(Errno) -> Descriptor {
        // A process that cleans up may have locked and deleted the file first. If so, create
        // another one.
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
