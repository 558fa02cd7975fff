import CLinux
import Glibc
package import HandoffModel
import LoopIO

/// Where the user wants a content: an existing folder, a file in one, or standard output.
package final class Destination {
    private enum Place {
        case standardOutput
        /// The sender's name is used in it.
        case inside(OpenFolder)
        /// The user's name is used.
        case named(OpenFolder, String, isFile: Bool)
    }

    private let place: Place
    private let mask: UInt32
    private let unnamed: String?
    /// True if the user insists that the path is the one of a file.
    private let isForced: Bool
    private var budget = ComparisonBudget()

    /// Opens the folder, before anything is asked of anybody.
    /// - Parameters:
    ///   - output: `-`, the path of a folder that exists, or the path of a file, which need not exist.
    ///   - isForced: whether a file at the path is replaced, and a path that looks like a folder's becomes a file.
    ///   - unnamed: the name, in a folder, of content that its sender gives none, as standard input; nil refuses that.
    ///   - shown: what messages, which the sender may get, call the folder where its path is nobody else's matter.
    ///   - calls: what is used of the kernel.
    /// - Throws: what is wrong with the path.
    package init(
        output: String, isForced: Bool = false, unnamed: String? = nil, shownAs shown: String? = nil,
        calls: KernelCalls = KernelCalls()
    ) throws(TransferFailure) {
        self.isForced = isForced
        mask = FileMask.read()
        self.unnamed = unnamed
        place = output == "-" ? .standardOutput : try Self.place(at: output, isForced, shown, calls)
    }

    /// How content gets there, for `ReceiverMachine`.
    package var route: ReceiverMachine.Route {
        switch place {
        case .standardOutput: .inline
        case .inside, .named: .passed
        }
    }

    /// Gives up, for this thread and those that it starts later, for ever, to change any file but those in the folder of this
    /// destination, to run programs, and to use the network. For a program that does nothing else any more; to be called
    /// before anything of the other device is read.
    /// - Returns: false where the kernel cannot do it; nothing else is different then.
    @discardableResult
    package func confine() -> Bool {
        switch place {
        case .standardOutput: Confinement.enter(folder: nil)
        case .inside(let folder), .named(let folder, _, _): Confinement.enter(folder: folder.raw)
        }
    }

    /// The folder that parts are in, as an absolute path without links; nil for standard output.
    package var folderPath: String? {
        switch place {
        case .standardOutput: return nil
        case .inside(let folder), .named(let folder, _, _):
            return FolderListing.target(ofLink: "/proc/self/fd/\(folder.raw)")
        }
    }

    /// Counts bytes that arrived, in any attempt: as many times as that may be compared again.
    package func arrived(_ bytes: Int64) { budget.arrived(bytes) }

    /// Counts bytes of a part that are to be hashed.
    /// - Throws: `failed` when that is out of proportion to what arrived.
    package func compare(_ bytes: Int64) throws(TransferFailure) { try budget.compare(bytes) }

    /// A comparison has ended, or there is nothing to compare.
    package func endComparison() { budget.endComparison() }

    /// What is done with content that comes.
    package enum Incoming {
        /// Write it to standard output, as it comes; a folder is a tar archive then.
        case standardOutput
        /// A file, or a stream that becomes one.
        case file(PartFile)
        /// A folder, unpacked.
        case folder(PartFolder)
    }

    /// Opens what the header describes: answers `ReceiverAction.open`.
    /// - Throws: `name`, `exists`, `busy` and others.
    package func open(
        _ header: TransferHeader, from sender: DeviceID, limits: TarLimits = .standard
    ) throws(TransferFailure) -> Incoming {
        switch place {
        case .standardOutput: return .standardOutput
        case .inside(let folder):
            let choice = try FileName.usable(header.name ?? unnamed)
            return try Self.open(header, sender, in: folder, choice, .numbered, mask: mask, limits: limits)
        case .named(let folder, let name, let isFile):
            if header.kind == .folder {
                guard !isFile else { throw .taken(folder.path(of: name)) }
            } else if !isForced, !Self.isFileName(name) {
                throw .noFolder(folder.path(of: name))
            }
            let naming = isForced && header.kind != .folder ? Naming.replacing : .new
            let choice = FileName.Choice(name: name, reason: nil)
            return try Self.open(header, sender, in: folder, choice, naming, mask: mask, limits: limits)
        }
    }

    /// True if a path that leads nowhere is meant as the name of a file: it has an extension with a letter.
    static func isFileName(_ name: String) -> Bool {
        guard let dot = name.dropFirst().lastIndex(of: ".") else { return false }
        let end = name[name.index(after: dot)...]
        return end.contains(where: \.isLetter) && end.utf8.count <= 16 && end.allSatisfy { $0.isLetter || $0.isNumber }
    }

    private static func open(
        _ header: TransferHeader, _ sender: DeviceID, in folder: OpenFolder, _ choice: FileName.Choice,
        _ naming: Naming, mask: UInt32, limits: TarLimits
    ) throws(TransferFailure) -> Incoming {
        let name = choice.name
        do throws(Errno) {
            if naming == .new, try folder.status(of: name) != nil { throw .exists }
        } catch .exists {
            throw .taken(folder.path(of: name))
        } catch {
            throw .system("cannot receive \(folder.path(of: name))", error)
        }
        let key = sender.bytes + (header.id?.bytes ?? Array("\(header.kind.rawValue) \(name)".utf8))
        switch header.kind {
        case .folder:
            let part = try PartFolder(
                in: folder, name: name, naming, key: key, header: header, mask: mask, limits: limits)
            part.nameReason = choice.reason
            return .folder(part)
        case .file, .stream:
            let part = try PartFile(in: folder, name: name, naming, key: key, header: header, mask: mask)
            part.nameReason = choice.reason
            return .file(part)
        }
    }

    private static func place(
        at output: String, _ isForced: Bool, _ shown: String?, _ calls: KernelCalls
    ) throws(TransferFailure) -> Place {
        let action = "cannot receive into \(VisibleText.escape(output))"
        var status = stat()
        do throws(Errno) {
            try SystemCall.retrying { stat(output.systemPath, &status) }
        } catch .noSuchFile {
            guard lstat(output.systemPath, &status) != 0 else {
                throw TransferFailure(.unreadable, "\(action): it is a link to nothing; delete the link first")
            }
            let (parent, name) = split(output)
            guard !name.isEmpty else { throw TransferFailure(.unreadable, "\(action): there is no such folder") }
            return .named(try folder(parent, shown, action, calls), name, isFile: false)
        } catch {
            throw .system(action, error)
        }
        if status.st_mode & S_IFMT == S_IFDIR { return .inside(try folder(output, shown, action, calls)) }
        // A device or a pipe of that name must not be replaced by a file.
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw TransferFailure(
                .exists, "\(action): it is neither a file nor a folder; for standard output say '-'")
        }
        guard isForced else {
            throw TransferFailure(
                .exists, "\(action): there is a file of that name already; use --force to replace it")
        }
        // A link to a file stays one: its target is replaced.
        guard let resolved = realpath(output.systemPath, nil) else { throw .system(action, .current) }
        defer { free(resolved) }
        let (parent, name) = split(String(systemPath: resolved))
        return .named(try folder(parent, shown, action, calls), name, isFile: true)
    }

    private static func folder(
        _ path: String, _ shown: String?, _ action: String, _ calls: KernelCalls
    ) throws(TransferFailure) -> OpenFolder {
        do throws(Errno) {
            return try OpenFolder(path: path, shownAs: shown, calls: calls)
        } catch {
            throw .system("\(action): cannot open the folder \(VisibleText.escape(path))", error)
        }
    }

    /// The folder and the last component of a path; the latter is empty behind a slash at the end.
    private static func split(_ path: String) -> (parent: String, name: String) {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return (".", path) }
        let parent = path[..<slash]
        return (parent.isEmpty ? "/" : String(parent), String(path[path.utf8.index(after: slash)...]))
    }
}

/// The permissions that this process gives to no file that it makes.
enum FileMask {
    /// The mask (umask(2)), which the call for it can only tell by changing it, for all threads at once. So it is read from
    /// where the kernel shows it, since Linux 4.7, and the call is left for systems without.
    static func read() -> UInt32 {
        if let status = try? LocalFile.read("/proc/self/status", limit: 65_536) {
            for line in status.bytes.split(separator: UInt8(ascii: "\n")) where line.starts(with: "Umask:".utf8) {
                let digits = line.dropFirst("Umask:".utf8.count).filter { $0 > UInt8(ascii: " ") }
                if let mask = UInt32(String(decoding: digits, as: UTF8.self), radix: 8) { return mask }
            }
        }
        let mask = umask(0o077)
        umask(mask)
        return mask
    }
}

/// What a program that takes files from another device gives up before it reads a byte of that device's.
///
/// Names are checked and links are never followed; this holds should all of that have a mistake.
enum Confinement {
    /// Gives it up for the calling thread and all that it starts later, for ever (landlock(7)): to change any file outside
    /// of a folder, to run programs, to use the network. What is open already stays usable, so does a unix socket's path.
    /// - Parameter folder: the number of an open folder whose content may still be changed; nil for none.
    /// - Returns: whether the kernel watches over it; without it, or on a file system that it cannot tell apart, everything
    ///   works as before.
    static func enter(folder: Int32?) -> Bool {
        clinux_confine_writing(folder ?? -1) > 0
    }
}
