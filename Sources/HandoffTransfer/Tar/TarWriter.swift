import Glibc
import HandoffModel
import LoopIO

/// Creates an archive of a folder, piece by piece. It contains files and folders, but no links,
/// devices or pipes.
///
/// Folders are opened by name, relative to their parent, and links are never followed. Nothing
/// outside is read. Entries are sorted by name, and each folder precedes its content. Not to be
/// used by two threads concurrently.
///
/// Instead of the content of one folder, the archive can contain files and folders of several
/// folders (`SourceEntry`). Only the paths of these are followed if they are links.
package final class TarWriter {
    /// A folder whose content is being written.
    private struct Level {
        let folder: SharedDescriptor
        /// The path components below the top folder.
        let components: [[UInt8]]
        /// Names that have not been written, in reverse order.
        var names: [[CChar]]
    }

    private enum State {
        case walking
        case file(SharedDescriptor, FileState, components: [[UInt8]], left: Int64)
        case ended
    }

    private let top: String
    private var levels: [Level] = []
    /// The folder, until it has been entered.
    private var root: SharedDescriptor?
    /// The files and folders to write instead of the content of one folder, in reverse order.
    private var entries: [SourceEntry] = []
    private let workingFolder: SharedDescriptor?
    private var state = State.walking
    private var notes: [String] = []
    private var skipped = 0
    /// The entries omitted so far.
    private(set) var omissions = TransferOmissions.none

    /// Bytes of the files read so far.
    private(set) var contentBytes: Int64 = 0

    /// The maximum size of a file that is read into memory because its size must be known in
    /// advance.
    private static let wholeLimit = 1 << 26

    /// The maximum number of notes.
    private static let noteLimit = 100

    /// Creates a writer for the content of an open folder.
    /// - Parameter path: for messages.
    init(_ folder: consuming Descriptor, path: String) {
        root = SharedDescriptor(folder)
        workingFolder = nil
        top = path
    }

    /// Creates a writer for several files and folders.
    /// - Parameters:
    ///   - folder: the folder that relative paths are relative to.
    ///   - name: the name of all entries together, for messages.
    init(_ entries: [SourceEntry], in folder: consuming Descriptor, name: String) {
        self.entries = entries.reversed()
        workingFolder = SharedDescriptor(folder)
        top = name
    }

    /// Returns notes for the user about entries omitted since the last call, at most a hundred
    /// lines.
    func takeNotes() -> [String] {
        defer { (notes, skipped) = ([], 0) }
        return skipped > Self.noteLimit ? notes + ["\(skipped - Self.noteLimit) more are left out"] : notes
    }

    /// Returns about `limit` more bytes of the archive, or nil at the end. Reads files, so it may
    /// block.
    /// - Throws: `changed` if a file changes while it is read, `unreadable` if the folder itself or
    ///   an opened file cannot be read.
    package func next(limit: Int = 262_144) throws(TransferFailure) -> [UInt8]? {
        var output: [UInt8] = []
        output.reserveCapacity(limit + TarBlock.size)
        if let root {
            self.root = nil
            try enter(root, [])
        }
        while output.count < limit {
            if case .ended = state { break }
            if case .file = state {
                try readFile(into: &output, limit: limit)
            } else if let last = levels.indices.last {
                // Removed before the level is copied. Otherwise each removal would copy all names.
                if let name = levels[last].names.popLast() {
                    let components = levels[last].components + [name.dropLast().map { UInt8(bitPattern: $0) }]
                    try write(name, as: components, in: levels[last].folder.raw, to: &output)
                } else {
                    levels.removeLast()
                }
            } else if let workingFolder, let entry = entries.popLast() {
                let folder = workingFolder.raw
                try write(entry.path.systemPath, as: [entry.name], in: folder, isLinkFollowed: true, to: &output)
            } else {
                output += [UInt8](repeating: 0, count: 2 * TarBlock.size)
                state = .ended
            }
        }
        return output.isEmpty ? nil : output
    }

    private func write(
        _ name: [CChar], as components: [[UInt8]], in folder: Int32, isLinkFollowed: Bool = false,
        to output: inout [UInt8]
    ) throws(TransferFailure) {
        let length = components.reduce(components.count) { $0 + $1.count }
        guard components.count <= TarLimits.depth, length <= TarLimits.path else {
            return skip(components, "its path is too long")
        }
        let opened: SharedDescriptor
        let file: FileState
        do throws(Errno) {
            var status = stat()
            // Checked before opening, because opening a device or a pipe can have side effects.
            try SystemCall.retrying { fstatat(folder, name, &status, isLinkFollowed ? 0 : AT_SYMLINK_NOFOLLOW) }
            let type = status.st_mode & S_IFMT
            guard type == S_IFREG || type == S_IFDIR else {
                return skip(components, "it is neither a file nor a folder")
            }
            let flags = O_RDONLY | (isLinkFollowed ? 0 : O_NOFOLLOW) | O_NONBLOCK | O_NOCTTY | O_CLOEXEC
            opened = SharedDescriptor(
                Descriptor(owning: try SystemCall.retrying { openat(folder, name, flags) }))
            file = try FileState(of: opened.raw)
        } catch {
            return skip(components, "it cannot be opened: \(error)")
        }
        guard file.isRegular || file.isFolder else { return skip(components, "it is neither a file nor a folder") }
        if file.isRegular, !file.isSizeReliable(of: opened.raw) {
            return writeWhole(opened, file, components, to: &output)
        }
        let entry = TarEntry(
            kind: file.isFolder ? .folder : .file, components: components, size: file.isFolder ? 0 : file.size,
            mode: file.mode & 0o777, modified: file.modified)
        if file.isFolder {
            do throws(TransferFailure) {
                try enter(opened, components)
            } catch {
                return skip(components, error.message)
            }
            output += entry.encoded()
        } else {
            output += entry.encoded()
            state = .file(opened, file, components: components, left: file.size)
        }
    }

    /// Writes a file whose size is unknown until it has been read.
    private func writeWhole(
        _ opened: SharedDescriptor, _ file: FileState, _ components: [[UInt8]], to output: inout [UInt8]
    ) {
        var content: [UInt8] = []
        do throws(Errno) {
            while case let bytes = try FileState.read(opened.raw, limit: 65_536), !bytes.isEmpty {
                content += bytes
                guard content.count <= Self.wholeLimit else {
                    return skip(components, "its size is not known in advance and exceeds \(Self.wholeLimit) bytes")
                }
            }
        } catch {
            return skip(components, "it cannot be read: \(error)")
        }
        let size = Int64(content.count)
        let entry = TarEntry(
            kind: .file, components: components, size: size, mode: file.mode & 0o777, modified: file.modified)
        contentBytes += size
        output += entry.encoded() + content + [UInt8](repeating: 0, count: TarBlock.padding(of: size))
    }

    private func enter(_ folder: SharedDescriptor, _ components: [[UInt8]]) throws(TransferFailure) {
        let path = components.isEmpty ? top : shown(components)
        do throws(Errno) {
            let names = try FolderTree.names(in: folder.raw).sorted { $1.lexicographicallyPrecedes($0) }
            levels.append(Level(folder: folder, components: components, names: names))
        } catch {
            throw .system("cannot read the folder \(path)", error)
        }
    }

    private func readFile(into output: inout [UInt8], limit: Int) throws(TransferFailure) {
        guard case .file(let descriptor, let before, let components, var left) = state else { return }
        state = .walking
        let (raw, wanted) = (descriptor.raw, Int(min(left, Int64(max(limit - output.count, 1)))))
        do throws(Errno) {
            let start = output.count
            var count = 0
            if wanted > 0 {
                output += [UInt8](repeating: 0, count: wanted)
                count = try output.withUnsafeMutableBufferPointer { (bytes) throws(Errno) in
                    let place = UnsafeMutableBufferPointer(rebasing: bytes[start...])
                    return try SystemCall.retrying { read(raw, place.baseAddress, place.count) }
                }
                output.removeLast(wanted - count)
                guard count > 0 else { throw .changedMeanwhile }
            }
            left -= Int64(count)
            contentBytes += Int64(count)
            guard left == 0 else {
                state = .file(descriptor, before, components: components, left: left)
                return
            }
            output += [UInt8](repeating: 0, count: TarBlock.padding(of: before.size))
            let after = try FileState(of: raw)
            guard after.size == before.size, after.modified == before.modified,
                after.modifiedNanoseconds == before.modifiedNanoseconds
            else { throw .changedMeanwhile }
        } catch .changedMeanwhile {
            throw TransferFailure(.changed, "\(shown(components)) changed while it was being sent; try again")
        } catch {
            throw .system("cannot read \(shown(components))", error)
        }
    }

    private func skip(_ components: [[UInt8]], _ reason: String) {
        skipped += 1
        omissions.add("\(TarEntry.text(of: components)): \(reason)")
        if notes.count < Self.noteLimit { notes.append("\(shown(components)) is left out: \(reason)") }
    }

    private func shown(_ components: [[UInt8]]) -> String {
        "\(top)/\(TarEntry.text(of: components))"
    }
}

extension Errno {
    /// ESTALE, which no call here returns, marks a file that has changed.
    fileprivate static let changedMeanwhile = Errno(rawValue: ESTALE)
}
