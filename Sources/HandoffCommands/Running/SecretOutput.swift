import LoopIO

/// Where a secret is written: a new file that only the user may read, or a standard output that is no terminal.
final class SecretOutput {
    /// The file's path; nil for standard output.
    let path: String?
    private var file: NewFile?
    private let writeOutput: ([UInt8]) throws -> Void

    /// Opens it.
    /// - Parameter target: a path, or `-`.
    /// - Throws: `CommandFailure` when the file exists, cannot be created, or the secret would be shown on a screen.
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
                why: "other users could read it, since its file system keeps no permissions; use another folder, "
                    + "or '-' for standard output")
        }
        self.file = file
    }

    /// Writes all of it, and makes a file durable.
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
