import Foundation
import Glibc
import HandoffTransfer
import LoopIO

/// The folder for documents of other devices, below the user's cache: for this process alone, and deleted by a later one when this
/// one could not. Used on the thread for files.
final class PrivateFolder {
    /// Where it is; made by `make`.
    let path: String
    private let parent: String
    private let name: String
    private var lock: Descriptor?

    /// A folder that is not made yet, with a random name.
    /// - Parameter cache: the user's cache; nil for `$XDG_CACHE_HOME`, or `~/.cache`.
    init(cache: String?) {
        let folder = cache ?? Self.cache
        parent = folder + "/handoff/documents"
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
        do throws(Errno) {
            try ReceivedContent.remove(folder: path)
            _ = unlink(path + ".lock")
        } catch {}
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
                removeOthers()
                lock = try Self.open(path + ".lock", mustLock: false)
                try FileTreeMaking.makeFolder(path)
            }
            try FileTreeMaking.makeFolder(place)
        } catch {
            throw TransferFailure.system("cannot make \(place)", error)
        }
        return place
    }

    /// The folder of a document.
    func folder(_ number: Int) -> String { "\(path)/\(number)" }

    /// Deletes what processes have left that are gone: nobody holds their locks.
    private func removeOthers() {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: parent)) ?? []
        for name in names where name.hasSuffix(".lock") && name != self.name + ".lock" {
            let file = parent + "/" + name
            guard let held = try? Self.open(file, mustLock: true) else { continue }
            try? ReceivedContent.remove(folder: String(file.dropLast(".lock".count)))
            _ = unlink(file)
            held.close()
        }
    }

    /// Makes a file, or opens it, and locks it (flock(2)) for as long as the descriptor is open.
    /// - Parameter mustLock: whether a file system without locks is a failure.
    private static func open(_ path: String, mustLock: Bool) throws(Errno) -> Descriptor {
        let file = Descriptor(
            owning: try SystemCall.retrying { Glibc.open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600) })
        let raw = file.raw
        do throws(Errno) {
            try SystemCall.retrying { flock(raw, LOCK_EX | LOCK_NB) }
        } catch {
            guard error != .wouldBlock, !mustLock else { throw error }
        }
        return file
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
            try SystemCall.retrying { mkdir(path, 0o700) }
        } catch .exists {}
    }
}
