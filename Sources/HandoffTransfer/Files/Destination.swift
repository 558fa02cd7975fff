import CLinux
import Glibc
package import HandoffModel
import LoopIO

/// The destination chosen by the user: an existing folder, a file in one, or standard output.
package final class Destination {
    private enum Place {
        case standardOutput
        /// The file gets the sender's name.
        case inside(OpenFolder)
        /// The file gets the user's name.
        case named(OpenFolder, String, isFile: Bool)
    }

    private let place: Place
    private let mask: UInt32
    private let unnamed: String?
    /// True if the user requires the path to be that of a file.
    private let isForced: Bool
    private var budget = ComparisonBudget()

    /// Opens the folder, before any request is sent.
    /// - Parameters:
    ///   - output: `-`, the path of an existing folder, or the path of a file, which need not
    ///     exist.
    ///   - isForced: replaces an existing file, and accepts a path that looks like a folder's as a
    ///     file's.
    ///   - unnamed: the name, inside a folder, of content without a name, such as standard input.
    ///     Nil rejects such content.
    ///   - shown: the folder's name in messages, which the sender may receive. Used where the path
    ///     is private.
    ///   - calls: the kernel features to use.
    /// - Throws: a failure that describes the problem with the path.
    package init(
        output: String, isForced: Bool = false, unnamed: String? = nil, shownAs shown: String? = nil,
        calls: KernelCalls = KernelCalls()
    ) throws(TransferFailure) {
        self.isForced = isForced
        mask = FileMask.read()
        self.unnamed = unnamed
        place = output == "-" ? .standardOutput : try Self.place(at: output, isForced, shown, calls)
    }

    /// The route of the content, for `ReceiverMachine`.
    package var route: ReceiverMachine.Route {
        switch place {
        case .standardOutput: .inline
        case .inside, .named: .passed
        }
    }

    /// Permanently restricts this thread, and threads that it starts later, to changing files in
    /// the folder of this destination. They can no longer run programs or use the network. For
    /// programs that do nothing else afterwards. Call it before reading any data of the other
    /// device.
    /// - Returns: false if the kernel does not support it. Nothing has changed in that case.
    @discardableResult
    package func confine() -> Bool {
        switch place {
        case .standardOutput: Confinement.enter(folder: nil)
        case .inside(let folder), .named(let folder, _, _): Confinement.enter(folder: folder.raw)
        }
    }

    /// The folder of the parts, as an absolute path without links; nil for standard output.
    package var folderPath: String? {
        switch place {
        case .standardOutput: return nil
        case .inside(let folder), .named(let folder, _, _):
            return FolderListing.target(ofLink: "/proc/self/fd/\(folder.raw)")
        }
    }

    /// Counts received bytes over all attempts. They raise the limit of `compare`.
    package func arrived(_ bytes: Int64) { budget.arrived(bytes) }

    /// Counts bytes of a part that are about to be hashed.
    /// - Throws: `failed` if that is out of proportion to the bytes received.
    package func compare(_ bytes: Int64) throws(TransferFailure) { try budget.compare(bytes) }

    /// Ends a comparison. Also call it if there is nothing to compare.
    package func endComparison() { budget.endComparison() }

    /// The handling of received content.
    package enum Incoming {
        /// Write it to standard output as it arrives. A folder is written as a tar archive.
        case standardOutput
        /// Store it as a file. Also used for streams.
        case file(PartFile)
        /// Unpack it as a folder.
        case folder(PartFolder)
    }

    /// Opens the destination for a header, in response to `ReceiverAction.open`.
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

    /// Returns true if a path that does not exist looks like a file's name: its extension contains
    /// a letter.
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
                throw TransferFailure(.unreadable, "\(action): it is a dangling link; delete the link first")
            }
            let (parent, name) = split(output)
            guard !name.isEmpty else { throw TransferFailure(.unreadable, "\(action): there is no such folder") }
            return .named(try folder(parent, shown, action, calls), name, isFile: false)
        } catch {
            throw .system(action, error)
        }
        if status.st_mode & S_IFMT == S_IFDIR { return .inside(try folder(output, shown, action, calls)) }
        // A file must not replace a device or a pipe of that name.
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw TransferFailure(
                .exists, "\(action): it is neither a file nor a folder; use '-' for standard output")
        }
        guard isForced else {
            throw TransferFailure(
                .exists, "\(action): the file already exists; use --force to replace it")
        }
        // A link to a file is kept, and its target is replaced.
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

    /// Splits a path into its folder and its last component, which is empty after a trailing slash.
    private static func split(_ path: String) -> (parent: String, name: String) {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return (".", path) }
        let parent = path[..<slash]
        return (parent.isEmpty ? "/" : String(parent), String(path[path.utf8.index(after: slash)...]))
    }
}

/// The file mode creation mask of this process.
enum FileMask {
    /// Returns the mask. umask(2) can only read it by changing it for all threads, so this reads it
    /// from /proc (since Linux 4.7) and calls umask(2) only on systems without it.
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

/// Restrictions that a program applies to itself before it reads data of another device.
///
/// Names are checked and links are never followed. This is a second barrier in case that code has a
/// bug.
enum Confinement {
    /// Permanently restricts the calling thread, and threads that it starts later (landlock(7)).
    /// They can no longer change files outside a folder, run programs or use the network. Open
    /// files stay usable, and so do the paths of unix sockets.
    /// - Parameter folder: the descriptor of a folder whose content may still be changed; nil for
    ///   none.
    /// - Returns: true if the kernel enforces the restrictions. Otherwise, or on a file system that
    ///   the kernel cannot identify, everything works as before.
    static func enter(folder: Int32?) -> Bool {
        clinux_confine_writing(folder ?? -1) > 0
    }
}
