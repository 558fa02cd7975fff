import CLinux
import Glibc
import HandoffModel
import LoopIO

/// A folder that is being received and unpacked: hidden next to its destination, renamed once it is
/// complete.
///
/// An incomplete part is kept for the next transfer of the same folder, unless it can never be
/// continued. Not to be used by two threads concurrently.
package final class PartFolder {
    /// The intended path, for messages. The final name may have a number.
    let path: String

    private let folder: OpenFolder
    private let root: Descriptor
    private let name: String
    private let part: String
    private let naming: Naming
    private let header: TransferHeader
    private let mask: UInt32
    private var parser: TarParser
    private var isFinished = false
    private var names = ReceivedNames()
    private var repositories = RepositoryMetadata()
    private var keepsModes = true
    /// The reason why the name differs from the sender's, if it does.
    var nameReason: String?
    /// True if the part cannot be used by a later attempt.
    private var isUnusable = false
    /// Entries that exist and are announced again, in reverse order.
    private var kept: [TarEntry] = []

    /// The file that is being written.
    private var file: (entry: TarEntry, name: [CChar], descriptor: SharedDescriptor)?
    /// The folder of the previous entry, because the next is often in the same one.
    private var parent: (components: [[UInt8]], descriptor: SharedDescriptor)?
    /// Folders whose modes and times are set last: a mode may forbid writing, and writing changes
    /// the time.
    private var folders: [TarEntry] = []
    /// The approximate memory used by `folders`.
    private var memory = 0
    private let limits: TarLimits
    /// True if one call synchronises all files and reports their errors.
    private let isSyncedAsWhole: Bool

    /// Creates the part, or opens the one left by an earlier attempt.
    init(
        in folder: OpenFolder, name: String, _ naming: Naming, key: [UInt8], header: TransferHeader, mask: UInt32,
        limits: TarLimits
    ) throws(TransferFailure) {
        part = FileName.part(of: name, key: key)
        path = folder.path(of: name)
        let part = self.part
        root = try PartLock.open(part, in: folder, kind: S_IFDIR, flags: O_RDONLY | O_DIRECTORY) {
            (folder) throws(Errno) in
            let number = folder.raw
            try SystemCall.retrying { mkdirat(number, part.systemPath, 0o700) }
        }
        self.folder = folder
        self.name = name
        self.naming = naming
        self.header = header
        self.mask = mask
        self.limits = limits
        isSyncedAsWhole = clinux_file_system_syncs(root.raw) != 0
        parser = TarParser(limits: limits)
        do throws(Errno) {
            let raw = root.raw
            _ = try FileMode.set(0o700, of: raw, calls: folder.calls)
            // The part's age is measured from the last attempt.
            _ = futimens(raw, nil)
            if header.id == nil { try FolderTree.empty(raw) }
        } catch {
            throw .system("cannot receive \(path)", error)
        }
    }

    deinit {
        let isEmpty = (try? FolderTree.names(in: root.raw).isEmpty) ?? false
        if isUnusable || isEmpty || header.id == nil { discard() }
        // See `PartFile.deinit`.
        _ = flock(root.raw, LOCK_UN)
    }

    /// Returns the part left by an earlier attempt, to be compared with the other device, or nil if
    /// it cannot be a beginning.
    package func makeArchive() throws(TransferFailure) -> FolderArchive? {
        guard header.id != nil, (try? FolderTree.names(in: root.raw).isEmpty) == false else { return nil }
        do throws(Errno) {
            return FolderArchive(TarWriter(try root.duplicate(), path: path), after: nil)
        } catch {
            throw .system("cannot read \(path)", error)
        }
    }

    /// Continues after the compared beginning, or deletes the content of the part.
    /// - Parameter archive: the beginning; nil to start again.
    package func prepare(behind archive: FolderArchive?) throws(TransferFailure) {
        if let archive {
            kept = archive.kept.reversed()
            let beginning = archive.beginning
            // The last file is announced again with its full size.
            parser.resume(
                entries: beginning.entries, bytes: archive.bytes - beginning.lastBytes, fileOffset: beginning.lastBytes)
            // The other device announces only folders and the last file again.
            repositories = archive.repositories
            for candidate in repositories.candidates { try count(candidate.folder) }
            return
        }
        do throws(Errno) {
            try FolderTree.empty(root.raw)
        } catch {
            throw .system("cannot receive \(path)", error)
        }
    }

    /// Unpacks the next bytes of the archive.
    /// - Throws: `unsafe`, `tooLarge`, `malformed`, `full` and others. Do not write again after an
    ///   error.
    package func write(_ bytes: [UInt8]) throws(TransferFailure) {
        var parser = self.parser
        defer { self.parser = parser }
        do throws(TransferFailure) {
            try parser.parse(bytes) { (event) throws(TransferFailure) in
                switch event {
                case .entry(let entry): try self.begin(entry)
                case .data(let bytes): try self.append(bytes)
                case .endOfFile: try self.endFile()
                case .end: break
                }
            }
        } catch {
            // An archive that is never accepted leaves nothing behind.
            isUnusable = [.unsafe, .tooLarge, .malformed].contains(error.reason)
            throw error
        }
    }

    /// Deletes the file that is being written, because its source has changed.
    func discardFile() {
        guard let file else { return }
        self.file = nil
        guard let parent = try? folder(Array(file.entry.components.dropLast())) else { return }
        // If deleting fails, the entry differs, and the next attempt detects that.
        _ = unlinkat(parent, file.name, 0)
    }

    /// Bytes of the contained files, without archive overhead.
    var contentBytes: Int64 { parser.bytes }

    /// Sets all modes and times, makes the content durable, and gives the folder its name.
    /// - Returns: the path.
    /// - Throws: `malformed` if the archive is incomplete, `exists` if the name has been taken
    ///   since.
    @discardableResult
    package func finish() throws(TransferFailure) -> String {
        try parser.finish()
        guard kept.isEmpty else { throw .malformed("the folder's archive is truncated") }
        parent = nil
        let given: String
        do throws(Errno) {
            // Must precede the final modes of folders, which may forbid renaming.
            try setAsideMetadata()
            for entry in folders.reversed() {
                let opened = try open(entry.components)
                try seal(opened.raw, mode: entry.mode, modified: entry.modified)
            }
            let raw = root.raw
            try seal(raw, mode: header.mode ?? 0o777, modified: header.modified)
            // One call for all files where possible, because one call per file is slow for many
            // small files.
            try SystemCall.retrying { clinux_sync_file_system(raw) }
            let (name, isRefused) = try naming.give(name, to: part, isFolder: true, in: folder)
            given = name
            if isRefused { nameReason = FileName.refused }
        } catch .exists {
            throw .taken(path)
        } catch {
            throw .system("cannot store \(path)", error)
        }
        isFinished = true
        do throws(Errno) {
            try folder.synchronize()
        } catch {
            throw .stored(folder.path(of: given), error)
        }
        return folder.path(of: given)
    }

    /// Differences between the sent and the stored folder, with reasons.
    package var remarks: [String] {
        let own = nameReason.map { [FileName.remark(header.name, $0)] } ?? []
        return own + names.remarks + (keepsModes ? [] : [FileMode.remark])
    }

    /// Deletes the part.
    package func discard() {
        guard !isFinished else { return }
        isFinished = true
        (file, parent) = (nil, nil)
        // Leftovers do no harm. The next attempt deletes them.
        try? FolderTree.empty(root.raw)
        _ = unlinkat(folder.raw, part.systemPath, AT_REMOVEDIR)
    }

    private func begin(_ entry: TarEntry) throws(TransferFailure) {
        let path = shown(entry)
        let here = kept.popLast()
        guard here == nil || here?.kind == entry.kind && here?.components == entry.components else {
            throw .malformed("the folder's archive does not continue the kept part")
        }
        // Kept entries were checked when they were compared.
        let isMetadata = here == nil && repositories.add(entry)
        if entry.kind == .folder || isMetadata { try count(entry.components) }
        do throws(Errno) {
            let parent = try folder(Array(entry.components.dropLast()))
            guard here == nil else { return try reopen(entry, in: parent) }
            try names.give(entry, in: parent) { (bytes) throws(Errno) in
                if let error = folder.calls.nameError?(bytes) { throw error }
                let name = bytes.nullTerminated
                switch entry.kind {
                case .folder:
                    try SystemCall.retrying { mkdirat(parent, name, 0o700) }
                    folders.append(entry)
                case .file:
                    let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
                    let opened = Descriptor(owning: try SystemCall.retrying { openat(parent, name, flags, 0o600) })
                    file = (entry, name, SharedDescriptor(opened))
                }
            }
        } catch .exists {
            throw TransferFailure(.unsafe, "the folder contains \(path) twice")
        } catch {
            throw .system("cannot write \(path)", error)
        }
    }

    private func append(_ bytes: ArraySlice<UInt8>) throws(TransferFailure) {
        guard let file else { return }
        do throws(Errno) {
            try FileWriting.write(bytes, to: file.descriptor.raw)
        } catch {
            throw .system("cannot write \(shown(file.entry))", error)
        }
    }

    private func endFile() throws(TransferFailure) {
        guard let file else { return }
        self.file = nil
        do throws(Errno) {
            let raw = file.descriptor.raw
            try seal(raw, mode: file.entry.mode, modified: file.entry.modified)
            if !isSyncedAsWhole { try SystemCall.retrying { fsync(raw) } }
            try SystemCall.flush(raw)
        } catch {
            throw .system("cannot write \(shown(file.entry))", error)
        }
    }

    /// Reopens an entry of an earlier attempt. It has the name that was sent.
    private func reopen(_ entry: TarEntry, in parent: Int32) throws(Errno) {
        let isFolder = entry.kind == .folder
        let opened = try FolderTree.open(
            entry.components, below: root.raw, flags: O_RDONLY | (isFolder ? O_DIRECTORY : 0), calls: folder.calls)
        // The entry may have its final mode. Where modes cannot be set, opening it shows whether it
        // is usable.
        _ = fchmod(opened.raw, isFolder ? 0o700 : 0o600)
        guard !isFolder else { return folders.append(entry) }
        let name = (entry.components.last ?? []).nullTerminated
        let flags = O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC
        let writable = Descriptor(owning: try SystemCall.retrying { openat(parent, name, flags) })
        file = (entry, name, SharedDescriptor(writable))
    }

    /// Counts a path that is kept in memory until the end.
    private func count(_ components: [[UInt8]]) throws(TransferFailure) {
        memory = components.reduce(memory &+ 128) { $0 &+ $1.count &+ 48 }
        guard memory <= limits.memory else {
            throw TransferFailure(.tooLarge, "the folder contains too many folders with long names")
        }
    }

    /// Returns the descriptor of an unpacked folder.
    private func folder(_ components: [[UInt8]]) throws(Errno) -> Int32 {
        guard !components.isEmpty else { return root.raw }
        if let parent, parent.components == components { return parent.descriptor.raw }
        let opened = SharedDescriptor(try open(components))
        parent = (components, opened)
        return opened.raw
    }

    /// Opens a folder by its components as they were sent.
    private func open(_ components: [[UInt8]]) throws(Errno) -> Descriptor {
        let place = names.place(of: components)
        let flags = O_RDONLY | O_DIRECTORY
        return try FolderTree.open(
            place.isEmpty ? [[UInt8(ascii: ".")]] : place, below: root.raw, flags: flags, calls: folder.calls)
    }

    /// Renames the files that version control programs would run.
    private func setAsideMetadata() throws(Errno) {
        for candidate in repositories.candidates {
            let opened = try open(candidate.folder)
            for (old, new) in try RepositoryMetadata.setAside(candidate, in: opened.raw) {
                names.setAside(old, as: new, in: candidate.folder)
            }
        }
    }

    private func seal(_ number: Int32, mode: UInt32, modified: Int64?) throws(Errno) {
        FileWriting.setTime(modified, of: number)
        if try !FileMode.set(mode & 0o777 & ~mask, of: number, calls: folder.calls) { keepsModes = false }
    }

    private func shown(_ entry: TarEntry) -> String {
        "\(path)/\(VisibleText.escape(String(decoding: entry.path, as: UTF8.self)))"
    }
}
