import Glibc
import HandoffModel
package import LoopIO

/// Makes an archive of what is in a folder, piece by piece: files and folders, and no links, devices or pipes.
///
/// Folders are opened one in the other and by name, links never followed, so nothing outside is read. Order: by name, each
/// folder before what is in it. One thread at a time.
package final class TarWriter {
    /// A folder whose content is being written.
    private struct Level {
        let folder: SharedDescriptor
        /// Path below the top, by components.
        let components: [[UInt8]]
        /// Names that are not written yet, the last one first.
        var names: [[CChar]]
    }

    private enum State {
        case walking
        case file(SharedDescriptor, FileState, components: [[UInt8]], left: Int64)
        case ended
    }

    private let top: String
    private var levels: [Level] = []
    private var root: SharedDescriptor?
    private var state = State.walking
    private var notes: [String] = []
    private var skipped = 0
    /// The entries that were left out so far.
    package private(set) var omissions = TransferOmissions.none

    /// Bytes of the files that were begun so far.
    private(set) var contentBytes: Int64 = 0

    /// Bytes of a file that is kept in memory, since an archive begins with its size.
    private static let wholeLimit = 1 << 26

    /// Notes that are kept: nobody reads more.
    private static let noteLimit = 100

    /// The content of an open folder.
    /// - Parameter path: for messages.
    package init(_ folder: consuming Descriptor, path: String) {
        root = SharedDescriptor(folder)
        top = path
    }

    /// What was left out since the last call and why, for the user; at most a hundred lines.
    package func takeNotes() -> [String] {
        defer { (notes, skipped) = ([], 0) }
        return skipped > Self.noteLimit ? notes + ["\(skipped - Self.noteLimit) more are left out"] : notes
    }

    /// The next bytes of the archive, some `limit` of them; nil behind its end. Reads files, and so may wait for a disk.
    /// - Throws: `changed` when a file changes while it is read, `unreadable` when the folder itself or a file that was opened
    ///   cannot be read.
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
                // Taken out before the level is copied: a second reference to the names would copy all of them for each.
                if let name = levels[last].names.popLast() {
                    try write(name, in: levels[last], to: &output)
                } else {
                    levels.removeLast()
                }
            } else {
                output += [UInt8](repeating: 0, count: 2 * TarBlock.size)
                state = .ended
            }
        }
        return output.isEmpty ? nil : output
    }

    private func write(_ name: [CChar], in level: Level, to output: inout [UInt8]) throws(TransferFailure) {
        let bytes = name.dropLast().map { UInt8(bitPattern: $0) }
        let components = level.components + [bytes]
        let length = components.reduce(components.count) { $0 + $1.count }
        guard components.count <= TarLimits.depth, length <= TarLimits.path else {
            return skip(components, "its path is too long")
        }
        let opened: SharedDescriptor
        let file: FileState
        do throws(Errno) {
            let folder = level.folder.raw
            var status = stat()
            // Before it is opened: opening a device or a pipe can do something.
            try SystemCall.retrying { fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) }
            let type = status.st_mode & S_IFMT
            guard type == S_IFREG || type == S_IFDIR else {
                return skip(components, "it is neither a file nor a folder")
            }
            let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC
            opened = SharedDescriptor(
                Descriptor(owning: try SystemCall.retrying { openat(folder, name, flags) }))
            file = try FileState(of: opened.raw)
        } catch {
            return skip(components, "it cannot be opened: \(error)")
        }
        guard file.isRegular || file.isFolder else { return skip(components, "it is neither a file nor a folder") }
        if file.isRegular, !file.isSizeTrue(of: opened.raw) { return writeWhole(opened, file, components, to: &output) }
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
            contentBytes += file.size
            state = .file(opened, file, components: components, left: file.size)
        }
    }

    /// Writes a file whose size is not known before it is read.
    private func writeWhole(
        _ opened: SharedDescriptor, _ file: FileState, _ components: [[UInt8]], to output: inout [UInt8]
    ) {
        var content: [UInt8] = []
        do throws(Errno) {
            while case let bytes = try FileState.read(opened.raw, limit: 65_536), !bytes.isEmpty {
                content += bytes
                guard content.count <= Self.wholeLimit else {
                    return skip(components, "its size is not known before, and more than \(Self.wholeLimit) bytes")
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
            throw TransferFailure(.changed, "\(shown(components)) was changed while it was sent; try again")
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
    /// ESTALE, which no call here returns: the file is not what it was.
    fileprivate static let changedMeanwhile = Errno(rawValue: ESTALE)
}
