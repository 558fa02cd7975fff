import HandoffModel
import LoopIO

/// The names of the entries of a received folder. An entry gets its own name unless the file system
/// rejects it.
struct ReceivedNames {
    /// The actual last component of renamed folders, by the path that was sent.
    private var renamed: [[UInt8]: [UInt8]] = [:]
    /// The actual paths of all renamed entries.
    private var given: Set<[UInt8]> = []
    private var renames = RemarkList()
    private var metadata = RemarkList()

    /// The highest number tried for a name that the file system treats as equal to another.
    private static let maxNumber = 9999

    /// Creates an entry under its own name, or under one derived from it.
    /// - Parameters:
    ///   - folder: the descriptor of the entry's folder.
    ///   - create: fails with EEXIST if the name is taken.
    /// - Throws: EEXIST if the folder already has an entry with exactly this name, or an error of
    ///   `create`.
    mutating func give(
        _ entry: TarEntry, in folder: Int32, create: ([UInt8]) throws(Errno) -> Void
    ) throws(Errno) {
        let name = entry.components.last ?? []
        let refusal: Errno
        do throws(Errno) {
            return try create(name)
        } catch {
            refusal = error
        }
        if refusal == .exists {
            // A file system that ignores case treats two different names as the same.
            let text = name.nullTerminated
            if !given.contains(entry.path), try FolderTree.names(in: folder).contains(text) { throw .exists }
        } else if !FileName.isRefusal(refusal) {
            throw refusal
        }
        let portable = FileName.portable(name)
        for number in 1...Self.maxNumber {
            let new = number == 1 ? portable : FileName.numbered(portable, number, isFolder: entry.kind == .folder)
            guard !new.utf8.elementsEqual(name) else { continue }
            do throws(Errno) {
                try create(Array(new.utf8))
            } catch .exists {
                continue
            } catch {
                throw refusal
            }
            if entry.kind == .folder { renamed[entry.path] = Array(new.utf8) }
            given.insert(TarEntry.path(of: entry.components.dropLast() + [Array(new.utf8)]))
            return renames.add("\(TarEntry.text(of: entry.components)) is named \(VisibleText.escape(new)) here")
        }
        throw refusal
    }

    /// Records that a metadata entry was renamed.
    mutating func setAside(_ old: [UInt8], as new: [UInt8], in folder: [[UInt8]]) {
        renamed[TarEntry.path(of: folder + [old])] = new
        metadata.add("\(TarEntry.text(of: folder + [old])) is set aside as \(TarEntry.text(of: [new]))")
    }

    /// Returns the actual components of a folder that was sent under `components`.
    func place(of components: [[UInt8]]) -> [[UInt8]] {
        guard !renamed.isEmpty else { return components }
        var path: [UInt8] = []
        return components.map { component in
            path += path.isEmpty ? component : [UInt8(ascii: "/")] + component
            return renamed[path] ?? component
        }
    }

    /// One line for each renamed entry, up to a limit.
    var remarks: [String] {
        let warning =
            "it contains a repository, whose configuration and hooks could run commands; "
            + "rename these files back only if you trust the sender"
        return renames.lines("the file system refuses a name: ")
            + (metadata.isEmpty ? [] : [warning]) + metadata.lines("")
    }
}

/// The first lines of a list, and the number of the remaining ones.
private struct RemarkList {
    private static let limit = 20

    private var lines: [String] = []
    private var more = 0

    var isEmpty: Bool { lines.isEmpty }

    mutating func add(_ line: String) {
        if lines.count < Self.limit { lines.append(line) } else { more += 1 }
    }

    func lines(_ beginning: String) -> [String] {
        lines.map { beginning + $0 } + (more > 0 ? ["\(beginning)\(more) more"] : [])
    }
}
