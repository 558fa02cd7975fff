import Glibc
import HandoffModel
import LoopIO

/// A file that is being received: hidden in its destination folder, renamed once it is complete.
///
/// An interrupted transfer finds it again, even after a reboot. It is locked as long as this value
/// lives. A part that can never be continued is deleted with the value. Not to be used by two
/// threads concurrently.
package final class PartFile {
    /// The intended path, for messages. The final name may have a number.
    let path: String
    /// Bytes of a beginning that may be continued once its digest has been compared; 0 to start
    /// again.
    package let resumable: Int64

    private let folder: OpenFolder
    private let descriptor: Descriptor
    private let name: String
    private let part: String
    private let header: TransferHeader
    private let naming: Naming
    private let mask: UInt32
    private var isFinished = false
    /// Differences between the sent and the stored file, set by `finish`.
    package private(set) var remarks: [String] = []
    /// The reason why the name differs from the sender's, if it does.
    var nameReason: String?

    /// Opens or creates the part.
    /// - Parameters:
    ///   - key: identifies the content, see `FileName.part`.
    ///   - naming: how the completed file gets its name.
    ///   - mask: permissions that are never granted (umask(2)).
    init(
        in folder: OpenFolder, name: String, _ naming: Naming, key: [UInt8], header: TransferHeader, mask: UInt32
    ) throws(TransferFailure) {
        part = FileName.part(of: name, key: key)
        path = folder.path(of: name)
        let part = self.part
        descriptor = try PartLock.open(part, in: folder, kind: S_IFREG, flags: O_RDWR) { (folder) throws(Errno) in
            let number = folder.raw
            let flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
            Descriptor(owning: try SystemCall.retrying { openat(number, part.systemPath, flags, 0o600) }).close()
        }
        var status = stat()
        let isKnown = fstat(descriptor.raw, &status) == 0
        let length = isKnown ? Int64(status.st_size) : 0
        // Without an id, it may be the beginning of anything. If it is longer than the content, it
        // is not a beginning.
        resumable = header.id != nil && length <= header.size ?? 0 ? length : 0
        self.folder = folder
        self.name = name
        self.header = header
        self.naming = naming
        self.mask = mask
    }

    deinit {
        var status = stat()
        let isEmpty = fstat(descriptor.raw, &status) == 0 && status.st_size == 0
        if !isFinished, isEmpty || header.id == nil || header.size == nil { discard() }
        // The daemon and a hasher may keep the open file a moment longer. The next attempt need not
        // wait for them.
        _ = flock(descriptor.raw, LOCK_UN)
    }

    /// The descriptor to pass to the daemon, open for reading and writing. Valid as long as this
    /// value.
    package var number: Int32 { descriptor.raw }

    /// Bytes to read when hashing the beginning, without holes (st_blocks of stat(2)).
    var stored: Int64 {
        var status = stat()
        guard fstat(descriptor.raw, &status) == 0 else { return resumable }
        return min(Int64(status.st_blocks) * 512, resumable)
    }

    /// The current length in bytes.
    package var length: Int64 {
        var status = stat()
        return fstat(descriptor.raw, &status) == 0 ? Int64(status.st_size) : 0
    }

    /// Creates a hasher that hashes the part on its own thread, including bytes written later.
    package func makeHasher() throws(TransferFailure) -> FileHasher {
        try FileHasher(descriptor, path: path)
    }

    /// Truncates or extends the file to `offset` bytes and sets the descriptor's offset there.
    /// Missing bytes become a hole.
    /// - Parameter length: the number of bytes that will follow; nil if unknown.
    /// - Throws: `full` if the file system has no space for them.
    package func prepare(offset: Int64, length: Int64?) throws(TransferFailure) {
        if let length { try folder.requireRoom(for: length) }
        do throws(Errno) {
            let raw = descriptor.raw
            _ = try FileMode.set(0o600, of: raw, calls: folder.calls)
            try SystemCall.retrying { ftruncate(raw, off_t(offset)) }
            try SystemCall.retrying { lseek(raw, off_t(offset), SEEK_SET) }
        } catch {
            throw .system("cannot write \(path)", error)
        }
    }

    /// Appends bytes.
    /// - Throws: `full` and others. Bytes written before are kept for the next attempt, if it is
    ///   possible.
    package func write(_ bytes: [UInt8]) throws(TransferFailure) {
        do throws(Errno) {
            try FileWriting.write(bytes[...], to: descriptor.raw)
        } catch {
            throw .system("cannot write \(path)", error)
        }
    }

    /// Gives the complete content its mode, time and name, durably.
    /// - Returns: the path.
    /// - Throws: `exists` if a name that must not be replaced has been taken since. The part is
    ///   then kept.
    @discardableResult
    package func finish() throws(TransferFailure) -> String {
        let given: String
        do throws(Errno) {
            let raw = descriptor.raw
            FileWriting.setTime(header.modified, of: raw)
            if try !FileMode.set((header.mode ?? 0o666) & 0o777 & ~mask, of: raw, calls: folder.calls) {
                remarks.append(FileMode.remark)
            }
            try SystemCall.retrying { fsync(raw) }
            try SystemCall.flush(raw)
            let (name, isRefused) = try naming.give(name, to: part, isFolder: false, in: folder)
            given = name
            if isRefused { nameReason = FileName.refused }
        } catch .exists {
            throw .taken(path)
        } catch {
            throw .system("cannot store \(path)", error)
        }
        if let nameReason { remarks.append(FileName.remark(header.name, nameReason)) }
        isFinished = true
        do throws(Errno) {
            try folder.synchronize()
        } catch {
            throw .stored(folder.path(of: given), error)
        }
        return folder.path(of: given)
    }

    /// Deletes the part.
    func discard() {
        guard !isFinished else { return }
        isFinished = true
        // If deleting fails, the next attempt compares the part and starts again.
        _ = unlinkat(folder.raw, part.systemPath, 0)
    }
}

extension TransferFailure {
    /// The path does not exist and looks like a folder's.
    static func noFolder(_ path: String) -> TransferFailure {
        TransferFailure(
            .unreadable,
            "cannot receive into \(path): there is no such folder; create it, or use --force for a file of that name")
    }

    /// The intended name is taken.
    static func taken(_ path: String) -> TransferFailure {
        TransferFailure(
            .exists, "cannot receive \(path): that name is taken; move the existing file away, or choose another file")
    }
}

/// Writing of files, on their own and in folders.
enum FileWriting {
    /// Writes all bytes at the descriptor's offset (write(2)).
    static func write(_ bytes: ArraySlice<UInt8>, to number: Int32) throws(Errno) {
        try bytes.withUnsafeBufferPointer { (buffer) throws(Errno) in
            let bytes = UnsafeRawBufferPointer(buffer)
            var written = 0
            while written < bytes.count {
                let rest = UnsafeRawBufferPointer(rebasing: bytes[written...])
                written += try SystemCall.retrying { Glibc.write(number, rest.baseAddress, rest.count) }
            }
        }
    }

    /// Sets the modification time (futimens(3)), as precisely as the file system can store it.
    static func setTime(_ seconds: Int64?, of number: Int32) {
        guard let seconds else { return }
        let times = [timespec(tv_sec: 0, tv_nsec: utimeOmit), timespec(tv_sec: Int(seconds), tv_nsec: 0)]
        // A failure to set the time is ignored.
        _ = futimens(number, times)
    }

    /// UTIME_OMIT, a macro: leave this time unchanged.
    private static let utimeOmit = (1 << 30) - 2
}
