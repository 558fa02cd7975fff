import LoopIO

/// The destination of a secret: a new file that only the user can read, or a standard output that
/// is not a terminal.
final class SecretOutput {
    /// The file's path; nil for standard output.
    let path: String?
    private var file: NewFile?
    private let writeOutput: ([UInt8]) throws -> Void

    /// Opens the destination.
    /// - Parameter target: a path, or `-`.
    /// - Throws: `CommandFailure` if the file exists or cannot be created, or if the secret would
    ///   be written to a terminal.
    init(_ target: String, _ console: Console) throws(CommandFailure) {
        writeOutput = console.writeBytes
        guard target != "-" else {
            if console.outputIsTerminal { throw .secretToTerminal() }
            path = nil
            return
        }
        path = target
        let file: NewFile
        do {
            file = try NewFile(path: target)
        } catch {
            throw .file("create", target, why: "\(error)")
        }
        guard file.isPrivate else {
            file.remove()
            throw .file(
                "create", target,
                why: "other users could read it, because its file system stores no permissions; use another folder, "
                    + "or '-' for standard output")
        }
        self.file = file
    }

    /// Writes all bytes and makes a file durable.
    func write(_ bytes: [UInt8]) throws(CommandFailure) {
        do {
            if let file { try file.finish(writing: bytes) } else { try writeOutput(bytes) }
        } catch {
            throw .file("write", path ?? "standard output", why: "\(error)")
        }
    }

    /// Removes a file that will not be completed.
    func discard() {
        file?.remove()
    }
}
