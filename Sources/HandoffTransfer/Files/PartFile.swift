import Glibc
import HandoffModel
import LoopIO

/// A file that is being received: hidden in the folder where it will be, with its name only once it is complete.
///
/// A cut transfer finds it again, also after restarts of everything. It is locked as long as this value lives. What can
/// never be continued is deleted with the value. Not to be used by two threads at once.
package final class PartFile {
    /// The path that it is to have, for messages; a number may come to the name.
    package let path: String
    /// How much of a beginning is there that may go on; 0 when it starts anew. Its digest has to be compared first.
    package let resumable: Int64

    private let folder: OpenFolder
    private let descriptor: Descriptor
    private let name: String
    private let part: String
    private let header: TransferHeader
    private let naming: Naming
    private let mask: UInt32
    private var isFinished = false
    /// Entries that arrived in another form than they were sent, once it is finished.
    package private(set) var remarks: [String] = []
    /// Why the name is not the sender's, when it is not.
    var nameReason: String?

    /// Opens or makes the part.
    /// - Parameters:
    ///   - key: what the content is known by, see `FileName.part`.
    ///   - naming: how it gets its name in the end.
    ///   - mask: permissions that are never given (umask(2)).
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
        // Without an id it may be the beginning of anything; more than the whole is none.
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
        // The daemon and a hasher may have this open file for a moment longer; the next attempt need not wait for them.
        _ = flock(descriptor.raw, LOCK_UN)
    }

    /// The descriptor to pass to the daemon, open for reading and writing; valid as long as this value.
    package var number: Int32 { descriptor.raw }

    /// Bytes that are read to hash what may continue: those that are in no hole (st_blocks of stat(2)).
    package var stored: Int64 {
        var status = stat()
        guard fstat(descriptor.raw, &status) == 0 else { return resumable }
        return min(Int64(status.st_blocks) * 512, resumable)
    }

    /// Bytes that are there now.
    package var length: Int64 {
        var status = stat()
        return fstat(descriptor.raw, &status) == 0 ? Int64(status.st_size) : 0
    }

    /// Hashes it on a thread of its own; what is written meanwhile too.
    package func makeHasher() throws(TransferFailure) -> FileHasher {
        try FileHasher(descriptor, path: path)
    }

    /// Keeps the first `offset` bytes, or makes a hole of those of them that are missing, and sets the descriptor's offset behind them.
    /// - Parameter length: how many bytes will come; nil when that is not known.
    /// - Throws: `full` when the file system has no room for them.
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

    /// Writes behind what is there.
    /// - Throws: `full` and others; what was written before stays for the next attempt, if there can be one.
    package func write(_ bytes: [UInt8]) throws(TransferFailure) {
        do throws(Errno) {
            try FileWriting.write(bytes[...], to: descriptor.raw)
        } catch {
            throw .system("cannot write \(path)", error)
        }
    }

    /// Gives the complete content its mode, time and name, durably.
    /// - Returns: the path.
    /// - Throws: `exists` when a name that is not to be replaced was taken meanwhile; the part then stays.
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

    /// Deletes it: what arrived is of no use.
    package func discard() {
        guard !isFinished else { return }
        isFinished = true
        // When it cannot be deleted, the next attempt compares it, and begins anew.
        _ = unlinkat(folder.raw, part.systemPath, 0)
    }
}

extension TransferFailure {
    /// A path that leads nowhere, and that is more likely meant as a folder's.
    static func noFolder(_ path: String) -> TransferFailure {
        TransferFailure(
            .unreadable,
            "cannot receive into \(path): there is no such folder; create it, or use --force for a file of that name")
    }

    /// The name that the content shall get is another file's.
    static func taken(_ path: String) -> TransferFailure {
        TransferFailure(
            .exists, "cannot receive \(path): there is something of that name; move it away, or say another file")
    }
}

/// What files and files of folders are written with.
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

    /// Sets when the content was changed (futimens(3)), as far as the file system can say it.
    static func setTime(_ seconds: Int64?, of number: Int32) {
        guard let seconds else { return }
        let times = [timespec(tv_sec: 0, tv_nsec: utimeOmit), timespec(tv_sec: Int(seconds), tv_nsec: 0)]
        // A time is worth no failure.
        _ = futimens(number, times)
    }

    /// UTIME_OMIT, a macro: this time stays as it is.
    private static let utimeOmit = (1 << 30) - 2
}
