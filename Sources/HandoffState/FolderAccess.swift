internal import Glibc
internal import HandoffCrypto
import HandoffModel
internal import LoopIO

/// System calls on one open folder.
///
/// All paths are relative to the descriptor, so that no other process can substitute another
/// folder. About `unsafe` in this file: every pointer passed to a call is a string, structure or
/// buffer that outlives the call.
struct FolderAccess: ~Copyable {
    private let folder: Descriptor
    private let fileSync: FileSync
    /// Features that its file system lacks.
    let limits = StorageLimits()

    /// Opens a folder. Durably creates it and missing parent folders with mode 0700.
    init(path: String, fileSync: @escaping FileSync) throws(Errno) {
        self.fileSync = fileSync
        try Self.make(path, fileSync, limits)
        folder = Descriptor(
            owning: try SystemCall.retrying { unsafe Glibc.open(path.systemPath, O_RDONLY | O_DIRECTORY | O_CLOEXEC) })
    }

    /// Owner and permission bits of the folder (fstat(2)).
    func status() throws(Errno) -> (owner: UInt32, mode: UInt32) {
        var status = stat()
        let number = folder.raw
        try SystemCall.retrying { unsafe fstat(number, &status) }
        return (status.st_uid, status.st_mode & 0o7777)
    }

    /// Opens or creates a lock file, locks it (flock(2)), and writes `note` into it. Returns nil
    /// when another process has the lock.
    ///
    /// - Parameter isHeld: returns whether the process that wrote the note still uses the folder.
    ///   It decides if the file system has no locks.
    func lock(
        _ name: String, note: String, fileLock: FileLock, isHeld: (_ note: [UInt8]) -> Bool
    ) throws(Errno) -> Descriptor? {
        let file = try open(name, O_RDWR | O_CREAT | O_NOFOLLOW)
        let number = file.raw
        do throws(Errno) {
            var isLocked = false
            try limits.ignoringRefusal(of: "locks") { () throws(Errno) in
                try SystemCall.retrying { fileLock(number) }
                isLocked = true
            }
            if !isLocked, isHeld(try readEnd(name, limit: 32) ?? []) { return nil }
        } catch .wouldBlock {
            return nil
        }
        // Only a hint for people: a full disk must not prevent the daemon from starting.
        let text = Array(note.utf8)
        _ = ftruncate(number, 0)
        _ = unsafe pwrite(number, text, text.count, 0)
        return file
    }

    /// Reads a whole file into protected memory. Returns nil if it does not exist.
    ///
    /// - Throws: also EFBIG for more than `limit` bytes, and EINVAL if it is not a regular file
    ///   (ELOOP for a symbolic link).
    func read(_ name: String, limit: Int) throws(Errno) -> SecretBytes? {
        guard let file = try openPresent(name) else { return nil }
        let number = file.raw
        let size = try Self.plainSize(of: file)
        guard size <= limit else { throw Errno(rawValue: EFBIG) }
        return try unsafe SecretBytes(count: size) { (buffer: UnsafeMutableRawBufferPointer) throws(Errno) in
            var offset = 0
            while offset < size {
                let count = try SystemCall.retrying {
                    unsafe Glibc.read(number, buffer.baseAddress?.advanced(by: offset), size - offset)
                }
                // Shorter than fstat(2) reported: another process is writing to it.
                guard count > 0 else { throw Errno(rawValue: EIO) }
                offset += count
            }
        }
    }

    /// Creates a file of mode 0600 that must not exist, writes it and flushes it to disk
    /// (fsync(2)).
    func writeNew(_ name: String, _ bytes: SecretBytes) throws(Errno) {
        let file = try open(name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW)
        let number = file.raw
        try unsafe bytes.withUnsafeBytes { (buffer: UnsafeRawBufferPointer) throws(Errno) in
            var offset = 0
            while offset < buffer.count {
                offset += try SystemCall.retrying {
                    unsafe Glibc.write(number, buffer.baseAddress?.advanced(by: offset), buffer.count - offset)
                }
            }
        }
        try limits.ignoringRefusal(of: Self.synchronizedFiles) { () throws(Errno) in
            try SystemCall.retrying { fileSync(number) }
        }
        try SystemCall.flush(number)
    }

    private static let synchronizedFiles = "synchronised files"
    private static let synchronizedFolders = "synchronised folders"

    /// The size of a file in bytes (fstatat(2)), or nil if it does not exist.
    func size(_ name: String) throws(Errno) -> Int? {
        let number = folder.raw
        var status = stat()
        do throws(Errno) {
            try SystemCall.retrying { unsafe fstatat(number, name, &status, AT_SYMLINK_NOFOLLOW) }
        } catch .noSuchFile {
            return nil
        }
        return Int(clamping: status.st_size)
    }

    /// Appends a line to a file and flushes it to disk (fdatasync(2)). Creates the file with mode
    /// 0600 if needed. Starts a new line first if the last line was truncated.
    func append(_ name: String, _ line: [UInt8]) throws(Errno) {
        let file = try open(name, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK)
        let number = file.raw
        let end = try Self.plainSize(of: file)
        var bytes = line
        var last: UInt8 = 0
        let wasRead = end > 0 ? try SystemCall.retrying { unsafe pread(number, &last, 1, off_t(end - 1)) } : 0
        if wasRead == 1, last != UInt8(ascii: "\n") { bytes.insert(UInt8(ascii: "\n"), at: 0) }
        while !bytes.isEmpty {
            let written = try SystemCall.retrying { unsafe Glibc.write(number, bytes, bytes.count) }
            guard written > 0 else { throw Errno(rawValue: EIO) }
            bytes.removeFirst(written)
        }
        try limits.ignoringRefusal(of: Self.synchronizedFiles) { () throws(Errno) in
            try SystemCall.retrying { fdatasync(number) }
        }
        try SystemCall.flush(number)
    }

    /// Reads at most the last `limit` bytes of a file. Returns nil if it does not exist.
    func readEnd(_ name: String, limit: Int) throws(Errno) -> [UInt8]? {
        guard let file = try openPresent(name) else { return nil }
        let number = file.raw
        let size = try Self.plainSize(of: file)
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65_536)
        var offset = max(0, size - limit)
        while offset < size {
            let count = try SystemCall.retrying {
                unsafe pread(number, &piece, min(piece.count, size - offset), off_t(offset))
            }
            // Shorter than fstat(2) reported: another process is writing to it.
            guard count > 0 else { break }
            bytes += piece.prefix(count)
            offset += count
        }
        return bytes
    }

    /// Opens a file for reading. Returns nil if it does not exist.
    private func openPresent(_ name: String) throws(Errno) -> Descriptor? {
        do throws(Errno) {
            // Without O_NONBLOCK, opening a FIFO of that name would block.
            return try open(name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
        } catch .noSuchFile {
            return nil
        }
    }

    /// The size of a regular file. Throws EINVAL for any other file.
    private static func plainSize(of file: borrowing Descriptor) throws(Errno) -> Int {
        let number = file.raw
        var status = stat()
        try SystemCall.retrying { unsafe fstat(number, &status) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .invalidArgument }
        return Int(clamping: status.st_size)
    }

    /// Renames a file and replaces the target (renameat(2)).
    func rename(_ old: String, to new: String) throws(Errno) {
        let number = folder.raw
        try SystemCall.retrying { unsafe renameat(number, old, number, new) }
    }

    /// Deletes a file if it exists (unlinkat(2)).
    func remove(_ name: String) throws(Errno) {
        let number = folder.raw
        do throws(Errno) {
            try SystemCall.retrying { unsafe unlinkat(number, name, 0) }
        } catch .noSuchFile {
            return
        }
    }

    /// Flushes changed names to disk (fsync(2) of the folder).
    func synchronize() throws(Errno) {
        let number = folder.raw
        try limits.ignoringRefusal(of: Self.synchronizedFolders) { () throws(Errno) in
            try SystemCall.retrying { fileSync(number) }
        }
    }

    private func open(_ name: String, _ flags: Int32) throws(Errno) -> Descriptor {
        let number = folder.raw
        return Descriptor(
            owning: try SystemCall.retrying { unsafe openat(number, name, flags | O_CLOEXEC | O_NOCTTY, 0o600) })
    }

    /// Creates each missing folder of the path (mkdir(2)) and flushes its parent to disk. Files
    /// last only if their folder does.
    private static func make(
        _ path: String, _ fileSync: FileSync, _ limits: StorageLimits
    ) throws(Errno) {
        let bytes = path.systemBytes
        for end in bytes.indices.dropFirst() + [bytes.endIndex]
        where end == bytes.endIndex || bytes[end] == UInt8(ascii: "/") {
            let part = bytes[..<end].map { CChar(bitPattern: $0) }
            // Checked first: on a read-only or foreign parent, mkdir(2) may report that instead of
            // EEXIST.
            guard unsafe access(part + [0], F_OK) != 0 else { continue }
            do throws(Errno) {
                try SystemCall.retrying { unsafe mkdir(part + [0], 0o700) }
            } catch .exists {
                continue
            }
            let parent = Descriptor(
                owning: try SystemCall.retrying {
                    unsafe Glibc.open(part + Array("/..".utf8CString), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
                })
            let number = parent.raw
            try limits.ignoringRefusal(of: synchronizedFolders) { () throws(Errno) in
                try SystemCall.retrying { fileSync(number) }
            }
        }
    }
}

/// Flushes a file, or the names in a folder, to disk by its descriptor: fsync(2), or a test's
/// replacement.
package typealias FileSync = @Sendable (Int32) -> Int32

/// Locks a file for this process by its descriptor without waiting: flock(2), or a test's
/// replacement.
package typealias FileLock = @Sendable (Int32) -> Int32
