import Glibc
import LoopIO

/// Opens and locks a part, so that only one program writes to it.
enum PartLock {
    private enum Attempt: ~Copyable {
        case locked(Descriptor)
        /// The part was deleted or renamed while it was being opened.
        case gone
        /// The part has another kind, a second name or another owner.
        case foreign
        /// Another program holds the lock.
        case busy
    }

    /// Opens a part, or creates it, and locks it (flock(2)).
    /// - Parameters:
    ///   - name: the name in `folder`.
    ///   - kind: S_IFREG or S_IFDIR.
    ///   - make: creates the part, and fails with EEXIST if it exists.
    /// - Throws: `busy` if another program holds it, `unreadable` if it cannot be opened or has
    ///   another owner.
    static func open(
        _ name: String, in folder: OpenFolder, kind: UInt32, flags: Int32,
        make: (OpenFolder) throws(Errno) -> Void
    ) throws(TransferFailure) -> Descriptor {
        let action = "cannot receive into \(folder.path(of: name))"
        do throws(Errno) {
            // Between opening and locking, the previous holder may have finished, and the name may
            // belong to another file.
            for _ in 0..<16 {
                do throws(Errno) { try make(folder) } catch .exists {}
                switch try attempt(name, in: folder, kind: kind, flags: flags) {
                case .locked(let descriptor): return descriptor
                case .gone: continue
                case .foreign: throw .notPermitted
                case .busy: throw .wouldBlock
                }
            }
        } catch .wouldBlock {
            throw TransferFailure(.busy, "\(action): another program is receiving the same content")
        } catch .notPermitted {
            throw TransferFailure(.unreadable, "\(action): it was not created by Handoff for you; delete it first")
        } catch {
            throw .system(action, error)
        }
        throw TransferFailure(.busy, "\(action): another program keeps replacing it; try again")
    }

    /// Returns the owner that the file system gives to new files. On mounted memory sticks and
    /// network disks, all files have one owner.
    private static func ownerOfNewFiles(nextTo name: String, in folder: OpenFolder) throws(Errno) -> UInt32 {
        let number = folder.raw
        let probe = (name + "-probe").systemPath
        let flags = O_RDONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        let opened = Descriptor(owning: try SystemCall.retrying { openat(number, probe, flags, 0o600) })
        _ = unlinkat(number, probe, 0)
        var status = stat()
        let raw = opened.raw
        try SystemCall.retrying { fstat(raw, &status) }
        return status.st_uid
    }

    private static func attempt(
        _ name: String, in folder: OpenFolder, kind: UInt32, flags: Int32
    ) throws(Errno) -> Attempt {
        let descriptor: Descriptor
        do throws(Errno) {
            let (number, flags) = (folder.raw, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
            descriptor = Descriptor(owning: try SystemCall.retrying { openat(number, name.systemPath, flags) })
        } catch .noSuchFile {
            return .gone
        } catch {
            if error == .isLink || error == .notAFolder || error == .isAFolder { return .foreign }
            throw error
        }
        var status = stat()
        let raw = descriptor.raw
        try SystemCall.retrying { fstat(raw, &status) }
        guard status.st_mode & S_IFMT == kind, kind == S_IFDIR || status.st_nlink <= 1 else { return .foreign }
        if status.st_uid != geteuid(), try status.st_uid != ownerOfNewFiles(nextTo: name, in: folder) {
            return .foreign
        }
        do throws(Errno) {
            try SystemCall.retrying { flock(raw, LOCK_EX | LOCK_NB) }
        } catch .wouldBlock {
            return .busy
        } catch {
            // The file system has no locks. Continue without one.
        }
        guard let now = try folder.status(of: name), now.st_ino == status.st_ino, now.st_dev == status.st_dev else {
            return .gone
        }
        return .locked(descriptor)
    }
}
