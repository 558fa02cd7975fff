import HandoffModel
import LoopIO

/// Which names the entries of a received folder get: their own, unless the file system refuses these.
struct ReceivedNames {
    /// The last component of folders that have another name than was sent, by the path that was sent.
    private var renamed: [[UInt8]: [UInt8]] = [:]
    /// The paths of all that have another name than was sent.
    private var given: Set<[UInt8]> = []
    private var renames = RemarkList()
    private var metadata = RemarkList()

    /// Highest number that is tried for a name that the file system takes for another's.
    private static let maxNumber = 9999

    /// Creates an entry under its own name, or under one that is made from it.
    /// - Parameters:
    ///   - folder: the descriptor of the entry's folder.
    ///   - create: fails with EEXIST when something has the name.
    /// - Throws: EEXIST when the folder has an entry of exactly this name already, or an error of `create`.
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
            // If the file system ignores case, two names that differ are the same.
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
            return renames.add("\(TarEntry.text(of: entry.components)) has the name \(VisibleText.escape(new)) here")
        }
        throw refusal
    }

    /// Notes that something in a folder was renamed.
    mutating func setAside(_ old: [UInt8], as new: [UInt8], in folder: [[UInt8]]) {
        renamed[TarEntry.path(of: folder + [old])] = new
        metadata.add("\(TarEntry.text(of: folder + [old])) is set aside as \(TarEntry.text(of: [new]))")
    }

    /// The components under which a folder is found that was sent with these.
    func place(of components: [[UInt8]]) -> [[UInt8]] {
        guard !renamed.isEmpty else { return components }
        var path: [UInt8] = []
        return components.map { component in
            path += path.isEmpty ? component : [UInt8(ascii: "/")] + component
            return renamed[path] ?? component
        }
    }

    /// One line for each name that is another than was sent, up to a limit.
    var remarks: [String] {
        let warning =
            "it contains a repository, whose configuration and hooks could run commands; "
            + "rename what is set aside only if you trust the sender"
        return renames.lines("the file system refuses a name: ")
            + (metadata.isEmpty ? [] : [warning]) + metadata.lines("")
    }
}

/// The first lines of a list, and how many more there would be.
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
