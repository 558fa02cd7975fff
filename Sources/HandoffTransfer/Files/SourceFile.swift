import CLinux
import Glibc
import HandoffModel
import LoopIO

/// The source of one transfer: a file, a folder, several of them, or standard input. It is opened on
/// creation, so each transfer needs its own.
package final class SourceFile: Sendable {
    /// The description sent to the receiver.
    package let header: TransferHeader
    /// The path as the user gave it, for messages, which the receiver may get.
    let path: String

    /// Bytes of all files together; nil if unknown.
    package let total: Int64?

    private let descriptor: Descriptor
    private let state: FileState
    /// The files and folders to send as one folder; nil for a single source.
    private let entries: [SourceEntry]?
    /// True for standard input, which other code reads.
    private let isInput: Bool

    /// Opens a file or a folder. Links are followed.
    /// - Parameters:
    ///   - path: `-` for standard input.
    ///   - name: the name sent to the receiver instead of the last component of the path.
    ///   - shown: the name in messages, if the path is private.
    /// - Throws: `unreadable`, or `name` for a name that is too long.
    package init(_ path: String, name: String? = nil, shownAs shown: String? = nil) throws(TransferFailure) {
        if let name, name.utf8.count > TransferLimits.name {
            throw TransferFailure(.name, "cannot send \(VisibleText.escape(path)) under a name of more than 255 bytes")
        }
        isInput = path == "-"
        entries = nil
        self.path = isInput ? "standard input" : VisibleText.escape(shown ?? path)
        do throws(Errno) {
            descriptor = Descriptor(
                owning: isInput
                    ? try SystemCall.retrying { fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0) }
                    // Without O_NONBLOCK, opening a pipe blocks.
                    : try SystemCall.retrying { open(path.systemPath, O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC) })
            state = try FileState(of: descriptor.raw)
        } catch {
            throw .system("cannot send \(self.path)", error)
        }
        let hasSize = isInput || !state.isRegular || state.isSizeReliable(of: descriptor.raw)
        let header =
            isInput
            ? TransferHeader(kind: .stream, name: name) : state.header(path, name: name, hasSize: hasSize)
        guard var header else {
            throw TransferFailure(
                .unreadable, "cannot send \(self.path): it is neither a file nor a folder; for a pipe, use '-'")
        }
        if header.kind == .folder { header.hasRepository = RepositoryMetadata.isFound(in: descriptor.raw) }
        self.header = header
        total = header.size
    }

    /// Creates a folder that contains several files and folders, which are opened when they are
    /// sent. Those that cannot be opened then are omitted. Links are followed.
    /// - Parameter name: the name of the folder sent to the receiver.
    package init(entriesAt paths: [String], name: String) throws(TransferFailure) {
        path = VisibleText.escape(name)
        isInput = false
        do throws(Errno) {
            // Relative paths stay relative to this folder.
            descriptor = Descriptor(
                owning: try SystemCall.retrying { open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) })
            state = try FileState(of: descriptor.raw)
        } catch {
            throw .system("cannot send \(path)", error)
        }
        let entries = SourceEntry.entries(of: paths)
        self.entries = entries
        let folder = FolderListing.target(ofLink: "/proc/self/cwd") ?? ""
        guard var header = TransferHeader(kind: .folder, name: name, id: SourceEntry.id(entries, in: folder)) else {
            throw TransferFailure(.name, "cannot send \(path) under a name of more than 255 bytes")
        }
        header.hasRepository = RepositoryMetadata.isFound(in: entries, of: descriptor.raw)
        self.header = header
        let sizes = entries.compactMap(\.size)
        total = sizes.count == entries.count ? sizes.reduce(0) { $0 &+ $1 } : nil
    }

    /// Creates a file in memory with the given content.
    /// - Parameter name: the name sent to the receiver.
    /// - Throws: `unreadable` if there is not enough memory.
    package init(content: [UInt8], name: String) throws(TransferFailure) {
        path = VisibleText.escape(name)
        isInput = false
        entries = nil
        do throws(Errno) {
            descriptor = Descriptor(
                owning: try SystemCall.retrying {
                    content.withUnsafeBytes { clinux_memory_file($0.baseAddress, $0.count) }
                })
            state = try FileState(of: descriptor.raw)
        } catch {
            throw .system("cannot send \(path)", error)
        }
        guard let header = state.header("/proc/self/fd/\(descriptor.raw)", name: name, hasSize: true) else {
            throw TransferFailure(.unreadable, "cannot send \(path): it is not a file")
        }
        self.header = header
        total = header.size
    }

    /// The descriptor, to pass to the daemon after `seek`, or to read standard input. Valid as long
    /// as this value.
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

    /// Returns the next bytes of a file that are not in a hole, at or after `offset`, for
    /// `SenderAction.findData`. Changes the descriptor's offset.
    package func data(from offset: Int64) -> Range<Int64> {
        DataRuns.next(in: descriptor.raw, from: offset, size: state.size)
    }

    /// Reads at most `limit` bytes of a file whose size is unknown. Blocks. Returns an empty array
    /// at the end, and nil for standard input.
    package func read(limit: Int) throws(TransferFailure) -> [UInt8]? {
        guard !isInput else { return nil }
        do throws(Errno) {
            return try FileState.read(descriptor.raw, limit: limit)
        } catch {
            throw .system("cannot read \(path)", error)
        }
    }

    /// Creates a hasher that hashes the file on its own thread.
    package func makeHasher() throws(TransferFailure) -> FileHasher {
        try FileHasher(descriptor, path: path)
    }

    /// Returns the archive of a folder, for `SenderAction.readContent` and `hashEntries`.
    /// - Parameter beginning: the part that the other device already has.
    package func makeArchive(
        behind beginning: FolderArchive.Beginning = .init()
    ) throws(TransferFailure) -> FolderArchive {
        do throws(Errno) {
            let folder = try descriptor.duplicate()
            guard let entries else { return FolderArchive(TarWriter(folder, path: path), after: beginning) }
            return FolderArchive(TarWriter(entries, in: folder, name: path), after: beginning)
        } catch {
            throw .system("cannot send \(path)", error)
        }
    }

    /// Returns the name of a file or folder from its path. `.` and `..` are resolved.
    /// - Returns: nil for the root folder.
    package static func name(of path: String) -> String? { systemName(of: path)?.systemTextRepaired }

    /// Returns the name as system text.
    static func systemName(of path: String) -> String? {
        let last = path.utf8.split(separator: UInt8(ascii: "/")).last.map { String(Substring($0)) }
        if let last, last != ".", last != ".." { return last }
        guard let resolved = realpath(path.systemPath, nil) else { return nil }
        defer { free(resolved) }
        return String(systemPath: resolved).utf8.split(separator: UInt8(ascii: "/")).last.map { String(Substring($0)) }
    }

    /// Throws if the file has changed since it was opened. Call it once everything has been sent
    /// and hashed.
    /// - Throws: `changed`.
    package func requireUnchanged() throws(TransferFailure) {
        let isSame = (try? FileState(of: descriptor.raw)) == state  // An error counts as a change.
        guard isSame || header.kind != .file else {
            throw TransferFailure(.changed, "\(path) changed while it was being sent; try again")
        }
    }
}

/// The attributes that identify a file and reveal changes (fstat(2)).
struct FileState: Equatable {
    let device: UInt64
    let inode: UInt64
    let mode: UInt32
    let size: Int64
    let modified: Int64
    let modifiedNanoseconds: Int64
    /// The time of the last status change, which programs cannot set.
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

    /// Returns true if the file ends at its size. In /proc, sysfs and some FUSE file systems, the
    /// size is 0, one page or a guess.
    func isSizeReliable(of number: Int32) -> Bool {
        var byte: UInt8 = 0
        // A file that is unreadable there is read to its end, which shows the error.
        if size > 0, pread(number, &byte, 1, off_t(size - 1)) != 1 { return false }
        let behind = pread(number, &byte, 1, off_t(size))
        // A growing file has a reliable size.
        return behind == 0 || behind > 0 && (try? FileState(of: number).size) != size
    }

    /// Reads at most `limit` bytes at the descriptor's offset (read(2)). Returns no bytes at the
    /// end.
    static func read(_ number: Int32, limit: Int) throws(Errno) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: limit)
        let count = try bytes.withUnsafeMutableBufferPointer { (bytes) throws(Errno) in
            try SystemCall.retrying { Glibc.read(number, bytes.baseAddress, bytes.count) }
        }
        bytes.removeLast(limit - count)
        return bytes
    }

    /// Returns the description of a file or folder, or nil for anything else.
    /// - Parameter hasSize: false if the size is unreliable. The file is then sent as a stream.
    fileprivate func header(_ path: String, name: String?, hasSize: Bool) -> TransferHeader? {
        guard isRegular || isFolder else { return nil }
        let resolved = realpath(path.systemPath, nil)
        defer { free(resolved) }
        let canonical = resolved.map { String(cString: $0) } ?? path
        return TransferHeader(
            kind: isFolder ? .folder : hasSize ? .file : .stream,
            name: (name ?? SourceFile.name(of: path))?.prefix(utf8Count: TransferLimits.name),
            size: isRegular && hasSize ? size : nil, id: hasSize ? id(canonical) : nil, mode: mode & 0o777,
            modified: modified)
    }

    private func id(_ path: String) -> TransferID {
        var text = Array(path.utf8) + [0]
        // The id of a folder does not depend on its content, because its entries are compared.
        let ofFile = isRegular ? [size, modified, modifiedNanoseconds] : []
        for value in [Int64(bitPattern: inode)] + ofFile {
            withUnsafeBytes(of: value.bigEndian) { text.append(contentsOf: $0) }
        }
        return TransferID(checked: Array(SHA256Hasher.digest(of: text).bytes.prefix(TransferID.byteCount)))
    }
}
