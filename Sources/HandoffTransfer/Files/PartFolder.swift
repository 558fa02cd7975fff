import CLinux
import Glibc
import HandoffModel
import LoopIO

/// A folder that is being received and unpacked: hidden beside where it will be, with its name only once it is complete.
///
/// It is deleted with this value unless it was finished: folders never go on. One thread at a time.
package final class PartFolder {
    /// The path that it is to have, for messages; a number may come to the name.
    package let path: String

    private let folder: OpenFolder
    private let root: Descriptor
    private let name: String
    private let part: String
    private let naming: Naming
    private let header: TransferHeader
    private let mask: UInt32
    private var parser: TarParser
    private var isFinished = false

    /// The file that is being written.
    private var file: (entry: TarEntry, descriptor: SharedDescriptor)?
    /// The folder of the entry before, since the next is often in the same.
    private var parent: (components: [[UInt8]], descriptor: SharedDescriptor)?
    /// Folders get their modes and times last: a mode may forbid to write, and writing sets the time.
    private var folders: [TarEntry] = []
    /// What these take in memory, about.
    private var kept = 0
    private let limits: TarLimits

    /// Makes the part, and deletes what an attempt before has left of it.
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
        parser = TarParser(limits: limits)
        do throws(Errno) {
            let raw = root.raw
            try SystemCall.retrying { fchmod(raw, 0o700) }
            try FolderTree.empty(raw)
        } catch {
            throw .system("cannot receive \(path)", error)
        }
    }

    deinit {
        discard()
    }

    /// Unpacks the next bytes of the archive.
    /// - Throws: `unsafe`, `tooLarge`, `malformed`, `full` and others; nothing more may be written then.
    package func write(_ bytes: [UInt8]) throws(TransferFailure) {
        var parser = self.parser
        defer { self.parser = parser }
        try parser.parse(bytes) { (event) throws(TransferFailure) in
            switch event {
            case .entry(let entry): try self.begin(entry)
            case .data(let bytes): try self.append(bytes)
            case .endOfFile: try self.endFile()
            }
        }
    }

    /// Gives everything its mode and time, makes it durable, and gives the folder its name.
    /// - Returns: the path.
    /// - Throws: `malformed` when the archive is not complete, `exists` when the name was taken meanwhile.
    @discardableResult
    package func finish() throws(TransferFailure) -> String {
        try parser.finish()
        parent = nil
        let given: String
        do throws(Errno) {
            for entry in folders.reversed() {
                let flags = O_RDONLY | O_DIRECTORY
                let opened = try FolderTree.open(entry.components, below: root.raw, flags: flags, calls: folder.calls)
                try seal(opened.raw, mode: entry.mode, modified: entry.modified)
            }
            let raw = root.raw
            try seal(raw, mode: header.mode ?? 0o777, modified: header.modified)
            // One call for all files: a call for each would take as long as many small files are.
            try SystemCall.retrying { clinux_sync_file_system(raw) }
            given = try naming.give(name, to: part, isFolder: true, in: folder)
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

    /// Deletes what arrived.
    package func discard() {
        guard !isFinished else { return }
        isFinished = true
        (file, parent) = (nil, nil)
        // What cannot be deleted is in the way of nobody; the next attempt tries again.
        try? FolderTree.empty(root.raw)
        _ = unlinkat(folder.raw, part.systemPath, AT_REMOVEDIR)
    }

    private func begin(_ entry: TarEntry) throws(TransferFailure) {
        let path = shown(entry)
        if entry.kind == .folder {
            kept = entry.components.reduce(kept &+ 128) { $0 &+ $1.count &+ 48 }
            guard kept <= limits.memory else {
                throw TransferFailure(.tooLarge, "the folder contains too many folders with too long names")
            }
        }
        do throws(Errno) {
            let parent = try folder(Array(entry.components.dropLast()))
            let name = (entry.components.last ?? []).map { CChar(bitPattern: $0) } + [0]
            switch entry.kind {
            case .folder:
                try SystemCall.retrying { mkdirat(parent, name, 0o700) }
                folders.append(entry)
            case .file:
                let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
                let opened = Descriptor(owning: try SystemCall.retrying { openat(parent, name, flags, 0o600) })
                file = (entry, SharedDescriptor(opened))
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
            try seal(file.descriptor.raw, mode: file.entry.mode, modified: file.entry.modified)
        } catch {
            throw .system("cannot write \(shown(file.entry))", error)
        }
    }

    /// The descriptor of a folder that was unpacked before.
    private func folder(_ components: [[UInt8]]) throws(Errno) -> Int32 {
        guard !components.isEmpty else { return root.raw }
        if let parent, parent.components == components { return parent.descriptor.raw }
        let flags = O_RDONLY | O_DIRECTORY
        let opened = SharedDescriptor(
            try FolderTree.open(components, below: root.raw, flags: flags, calls: folder.calls))
        parent = (components, opened)
        return opened.raw
    }

    private func seal(_ number: Int32, mode: UInt32, modified: Int64?) throws(Errno) {
        FileWriting.setTime(modified, of: number)
        try SystemCall.retrying { fchmod(number, mode & 0o777 & ~mask) }
    }

    private func shown(_ entry: TarEntry) -> String {
        "\(path)/\(VisibleText.escape(String(decoding: entry.path, as: UTF8.self)))"
    }
}
