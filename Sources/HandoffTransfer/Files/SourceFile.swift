import CLinux
import Glibc
import HandoffModel
import LoopIO

/// What is sent in one transfer: a file, a folder, or what comes on standard input. Opened when it is made, so every
/// transfer has one of its own.
package final class SourceFile {
    /// The description for the receiver.
    package let header: TransferHeader
    /// As the user gave it, for messages, which the receiver may get.
    package let path: String

    private let descriptor: Descriptor
    private let state: FileState

    /// Opens a file or a folder; links are followed.
    /// - Parameters:
    ///   - path: `-` for standard input.
    ///   - name: what the receiver is told instead of the last component of the path.
    ///   - shown: what messages call it instead of the path, where that is nobody else's matter.
    /// - Throws: `unreadable`, or `name` for a name that is too long.
    package init(_ path: String, name: String? = nil, shownAs shown: String? = nil) throws(TransferFailure) {
        if let name, name.utf8.count > TransferLimits.name {
            throw TransferFailure(.name, "cannot send \(VisibleText.escape(path)) under a name of more than 255 bytes")
        }
        let isInput = path == "-"
        self.path = isInput ? "standard input" : VisibleText.escape(shown ?? path)
        do throws(Errno) {
            descriptor = Descriptor(
                owning: isInput
                    ? try SystemCall.retrying { fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0) }
                    // Without O_NONBLOCK a pipe of that name would be waited for.
                    : try SystemCall.retrying { open(path.systemPath, O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC) })
            state = try FileState(of: descriptor.raw)
        } catch {
            throw .system("cannot send \(self.path)", error)
        }
        guard let header = isInput ? TransferHeader(kind: .stream, name: name) : state.header(path, name: name) else {
            throw TransferFailure(
                .unreadable, "cannot send \(self.path): it is neither a file nor a folder; for a pipe say '-'")
        }
        self.header = header
    }

    /// A file that is in memory alone, with this content.
    /// - Parameter name: what the receiver is told.
    /// - Throws: `unreadable` when there is no memory for it.
    package init(content: [UInt8], name: String) throws(TransferFailure) {
        path = VisibleText.escape(name)
        do throws(Errno) {
            descriptor = Descriptor(
                owning: try SystemCall.retrying {
                    content.withUnsafeBytes { clinux_memory_file($0.baseAddress, $0.count) }
                })
            state = try FileState(of: descriptor.raw)
        } catch {
            throw .system("cannot send \(path)", error)
        }
        guard let header = state.header("/proc/self/fd/\(descriptor.raw)", name: name) else {
            throw TransferFailure(.unreadable, "cannot send \(path): it is no file")
        }
        self.header = header
    }

    /// The descriptor: to pass to the daemon after `seek`, or to read standard input from. Valid as long as this value.
    package var number: Int32 { descriptor.raw }

    /// Sets the descriptor's offset, for `SenderAction.sendBytes`.
    package func seek(to offset: Int64) throws(TransferFailure) {
        do throws(Errno) {
            let raw = descriptor.raw
            try SystemCall.retrying { lseek(raw, off_t(offset), SEEK_SET) }
        } catch {
            throw .system("cannot read \(path)", error)
        }
    }

    /// The next bytes of a file, from `offset` on, that are no hole, for `SenderAction.findData`. The descriptor's offset becomes any.
    package func data(from offset: Int64) -> Range<Int64> {
        DataRuns.next(in: descriptor.raw, from: offset, size: state.size)
    }

    /// Hashes a file on a thread of its own.
    package func makeHasher() throws(TransferFailure) -> FileHasher {
        try FileHasher(descriptor, path: path)
    }

    /// The archive of a folder, for `SenderAction.readContent`.
    package func makeTar() throws(TransferFailure) -> TarWriter {
        do throws(Errno) {
            return TarWriter(try descriptor.duplicate(), path: path)
        } catch {
            throw .system("cannot send \(path)", error)
        }
    }

    /// What a file or folder is called by its path: `.` and `..` have names of their own.
    /// - Returns: nil for the root folder.
    package static func name(of path: String) -> String? {
        let last = path.utf8.split(separator: UInt8(ascii: "/")).last.map { String(Substring($0)) }
        if let last, last != ".", last != ".." { return last.systemTextRepaired }
        guard let resolved = realpath(path.systemPath, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved).utf8.split(separator: UInt8(ascii: "/")).last.map { String(Substring($0)) }
    }

    /// Says when a file is not what it was when it was opened; look once everything is sent and hashed.
    /// - Throws: `changed`.
    package func requireUnchanged() throws(TransferFailure) {
        let isSame = (try? FileState(of: descriptor.raw)) == state  // An error is a change, too.
        guard isSame || header.kind != .file else {
            throw TransferFailure(.changed, "\(path) was changed while it was sent; try again")
        }
    }
}

/// By which a file is known, and known to be unchanged (fstat(2)).
struct FileState: Equatable {
    let device: UInt64
    let inode: UInt64
    let mode: UInt32
    let size: Int64
    let modified: Int64
    let modifiedNanoseconds: Int64
    /// The time of the last change of anything, which no program can set.
    let changed: Int64
    let changedNanoseconds: Int64

    init(of number: Int32) throws(Errno) {
        var status = stat()
        try SystemCall.retrying { fstat(number, &status) }
        self.init(status)
    }

    init(_ status: stat) {
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
        mode = status.st_mode
        size = Int64(status.st_size)
        modified = Int64(status.st_mtim.tv_sec)
        modifiedNanoseconds = Int64(status.st_mtim.tv_nsec)
        changed = Int64(status.st_ctim.tv_sec)
        changedNanoseconds = Int64(status.st_ctim.tv_nsec)
    }

    var isRegular: Bool { mode & S_IFMT == S_IFREG }
    var isFolder: Bool { mode & S_IFMT == S_IFDIR }

    /// The description of a file or folder at a path; nil for anything else.
    fileprivate func header(_ path: String, name: String?) -> TransferHeader? {
        guard isRegular || isFolder else { return nil }
        let resolved = realpath(path.systemPath, nil)
        defer { free(resolved) }
        let canonical = resolved.map { String(cString: $0) } ?? path
        return TransferHeader(
            kind: isRegular ? .file : .folder, name: name ?? SourceFile.name(of: path), size: isRegular ? size : nil,
            id: isRegular ? id(canonical) : nil, mode: mode & 0o777, modified: modified)
    }

    private func id(_ path: String) -> TransferID {
        var text = Array(path.utf8) + [0]
        for value in [Int64(bitPattern: inode), size, modified, modifiedNanoseconds] {
            withUnsafeBytes(of: value.bigEndian) { text.append(contentsOf: $0) }
        }
        return TransferID(checked: Array(SHA256Hasher.digest(of: text).bytes.prefix(TransferID.byteCount)))
    }
}
