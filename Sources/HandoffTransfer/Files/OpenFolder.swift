import CLinux
import Glibc
import HandoffModel
package import LoopIO

/// An opened folder, and what is done in it by name: never outside of it, and never through a link.
final class OpenFolder {
    private let descriptor: Descriptor
    /// As the user knows it, for messages.
    let path: String
    /// What of the kernel is used in it.
    let calls: KernelCalls

    /// The number, for system calls; valid as long as this value.
    var raw: Int32 { descriptor.raw }

    /// Opens a folder of the user's; links in its path are followed.
    /// - Parameter shown: what messages call it; nil for its path.
    init(path: String, shownAs shown: String? = nil, calls: KernelCalls) throws(Errno) {
        descriptor = Descriptor(
            owning: try SystemCall.retrying { open(path.systemPath, O_RDONLY | O_DIRECTORY | O_CLOEXEC) })
        self.path = shown ?? path
        self.calls = calls
    }

    /// The path of something in it, for messages.
    func path(of name: String) -> String {
        path.hasSuffix("/") ? path + VisibleText.escape(name) : "\(path)/\(VisibleText.escape(name))"
    }

    /// What is there under a name (fstatat(2), links not followed); nil when there is nothing.
    func status(of name: String) throws(Errno) -> stat? {
        var status = stat()
        do throws(Errno) {
            try SystemCall.retrying { fstatat(raw, name.systemPath, &status, AT_SYMLINK_NOFOLLOW) }
        } catch .noSuchFile {
            return nil
        }
        return status
    }

    /// Gives something another name in the same folder, unless that is taken.
    /// - Throws: EEXIST when the name is taken.
    func rename(_ old: String, toNew new: String) throws(Errno) {
        if let error = calls.nameError?(new.systemBytes) { throw error }
        if calls.renamesOnlyNew {
            do throws(Errno) {
                try SystemCall.retrying { clinux_rename_new(raw, old.systemPath, new.systemPath) }
                return
            } catch {
                // Some network and FUSE file systems have no such call. Others refuse the name, and do so below too.
                guard [.invalidArgument, .noSuchCall, .notSupported].contains(error) else { throw error }
            }
        }
        do throws(Errno) {
            // A second name is refused where the first exists, so nothing can be replaced; folders cannot have two.
            try SystemCall.retrying { linkat(raw, old.systemPath, raw, new.systemPath, 0) }
            try SystemCall.retrying { unlinkat(raw, old.systemPath, 0) }
        } catch {
            guard error != .exists else { throw error }
            guard try status(of: new) == nil else { throw .exists }
            try SystemCall.retrying { renameat(raw, old.systemPath, raw, new.systemPath) }
        }
    }

    /// Makes the names in it durable (fsync(2)).
    func synchronize() throws(Errno) {
        do throws(Errno) {
            try SystemCall.retrying { fsync(raw) }
        } catch .invalidArgument {
            // The file system does not know it for folders.
        }
    }

    /// Says when there is no room for `bytes` more (fstatvfs(3)); a file system that does not know has room.
    func requireRoom(for bytes: Int64) throws(TransferFailure) {
        var status = statvfs()
        guard fstatvfs(raw, &status) == 0, status.f_blocks > 0 else { return }
        let (room, isHuge) = UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize))
        guard !isHuge, UInt64(max(bytes, 0)) > room else { return }
        throw TransferFailure(
            .full, "cannot receive into \(path): it takes \(bytes) bytes and \(room) are free; make room there")
    }
}

extension Errno {
    /// ENOSYS: the kernel has no such call.
    static let noSuchCall = Errno(rawValue: ENOSYS)
    /// EOPNOTSUPP: the file system cannot do it.
    static let notSupported = Errno(rawValue: EOPNOTSUPP)
    /// ENOTEMPTY: there is something in the folder.
    static let notEmpty = Errno(rawValue: ENOTEMPTY)
    /// ELOOP: a symbolic link is in the way.
    static let isLink = Errno(rawValue: ELOOP)
    /// ENOTDIR: it is no folder.
    static let notAFolder = Errno(rawValue: ENOTDIR)
    /// EISDIR: it is a folder.
    static let isAFolder = Errno(rawValue: EISDIR)
}

/// A descriptor with several holders, or one in a collection, closed with the last of them.
final class SharedDescriptor {
    private let descriptor: Descriptor

    init(_ descriptor: consuming Descriptor) {
        self.descriptor = descriptor
    }

    /// The number; valid as long as this value.
    var raw: Int32 { descriptor.raw }
}

/// Which of the newer calls of the kernel are used where they are there. Only tests leave one out, to see what is done on
/// systems without it.
package struct KernelCalls: Sendable {
    /// renameat2(2) with RENAME_NOREPLACE; some file systems have none.
    package var renamesOnlyNew = true
    /// openat2(2); there since Linux 5.6, and unknown to some sandboxes.
    package var opensBeneath = true
    /// fchmod(2); refused by some network and FUSE file systems.
    package var setsModes = true
    /// The error by which the file system refuses a name, as those of memory sticks do; nil for none.
    package var nameError: (@Sendable ([UInt8]) -> Errno?)?

    /// All of them.
    package init() {}
}
