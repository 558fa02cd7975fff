import CLinux
import Glibc
import HandoffModel
import LoopIO

/// An open folder. Its operations take names, and never leave the folder or follow a link.
final class OpenFolder {
    private let descriptor: Descriptor
    /// The path as the user knows it, for messages.
    let path: String
    /// The kernel features to use in it.
    let calls: KernelCalls

    /// The descriptor, valid as long as this value.
    var raw: Int32 { descriptor.raw }

    /// Opens a folder of the user. Links in its path are followed.
    /// - Parameter shown: the folder's name in messages; nil means its path.
    init(path: String, shownAs shown: String? = nil, calls: KernelCalls) throws(Errno) {
        descriptor = Descriptor(
            owning: try SystemCall.retrying { open(path.systemPath, O_RDONLY | O_DIRECTORY | O_CLOEXEC) })
        self.path = shown ?? path
        self.calls = calls
    }

    /// The path of an entry, for messages.
    func path(of name: String) -> String {
        path.hasSuffix("/") ? path + VisibleText.escape(name) : "\(path)/\(VisibleText.escape(name))"
    }

    /// Returns the status of an entry (fstatat(2), links not followed), or nil if it does not
    /// exist.
    func status(of name: String) throws(Errno) -> stat? {
        var status = stat()
        do throws(Errno) {
            try SystemCall.retrying { fstatat(raw, name.systemPath, &status, AT_SYMLINK_NOFOLLOW) }
        } catch .noSuchFile {
            return nil
        }
        return status
    }

    /// Renames an entry within the folder, unless the new name is taken.
    /// - Throws: EEXIST if the name is taken.
    func rename(_ old: String, toNew new: String) throws(Errno) {
        if let error = calls.nameError?(new.systemBytes) { throw error }
        if calls.renamesOnlyNew {
            do throws(Errno) {
                try SystemCall.retrying { clinux_rename_new(raw, old.systemPath, new.systemPath) }
                return
            } catch {
                // Some network and FUSE file systems lack this call. Others reject the name, and do
                // so again below.
                guard [.invalidArgument, .noSuchCall, .notSupported].contains(error) else { throw error }
            }
        }
        do throws(Errno) {
            // A link cannot replace an existing name. Folders cannot have a second name.
            try SystemCall.retrying { linkat(raw, old.systemPath, raw, new.systemPath, 0) }
            try SystemCall.retrying { unlinkat(raw, old.systemPath, 0) }
        } catch {
            guard error != .exists else { throw error }
            guard try status(of: new) == nil else { throw .exists }
            try SystemCall.retrying { renameat(raw, old.systemPath, raw, new.systemPath) }
        }
    }

    /// Makes the names in the folder durable (fsync(2)).
    func synchronize() throws(Errno) {
        do throws(Errno) {
            try SystemCall.retrying { fsync(raw) }
        } catch .invalidArgument {
            // The file system does not support fsync(2) for folders.
        }
    }

    /// Throws if fewer than `bytes` are free (fstatvfs(3)). File systems that do not report their
    /// free space pass.
    func requireRoom(for bytes: Int64) throws(TransferFailure) {
        var status = statvfs()
        guard fstatvfs(raw, &status) == 0, status.f_blocks > 0 else { return }
        let (room, isHuge) = UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize))
        guard !isHuge, UInt64(max(bytes, 0)) > room else { return }
        throw TransferFailure(
            .full, "cannot receive into \(path): \(bytes) bytes are needed and \(room) are free; free up space there")
    }
}

extension Errno {
    /// ENOSYS: the kernel has no such call.
    static let noSuchCall = Errno(rawValue: ENOSYS)
    /// EOPNOTSUPP: the file system cannot do it.
    static let notSupported = Errno(rawValue: EOPNOTSUPP)
    /// ENOTEMPTY: the folder is not empty.
    static let notEmpty = Errno(rawValue: ENOTEMPTY)
    /// ELOOP: the path contains a symbolic link.
    static let isLink = Errno(rawValue: ELOOP)
    /// ENOTDIR: not a folder.
    static let notAFolder = Errno(rawValue: ENOTDIR)
    /// EISDIR: is a folder.
    static let isAFolder = Errno(rawValue: EISDIR)
}

/// A descriptor with shared ownership, closed when its last owner is released.
final class SharedDescriptor {
    private let descriptor: Descriptor

    init(_ descriptor: consuming Descriptor) {
        self.descriptor = descriptor
    }

    /// The descriptor, valid as long as this value.
    var raw: Int32 { descriptor.raw }
}

/// The newer kernel features to use where available. Only tests disable one, to exercise the
/// fallback.
package struct KernelCalls: Sendable {
    /// renameat2(2) with RENAME_NOREPLACE, which some file systems lack.
    var renamesOnlyNew = true
    /// openat2(2), available since Linux 5.6 and unknown to some sandboxes.
    var opensBeneath = true
    /// fchmod(2), rejected by some network and FUSE file systems.
    var setsModes = true
    /// Returns the error by which the file system rejects a name, as those of memory sticks do, or
    /// nil.
    var nameError: (@Sendable ([UInt8]) -> Errno?)?

    /// Uses all features.
    init() {}
}
