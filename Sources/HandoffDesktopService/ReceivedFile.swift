import LoopIO

/// The path of a file or folder that came from another device, as the daemon names it.
package struct ReceivedFile: Equatable, Sendable {
    /// What is there.
    package enum Kind: Equatable, Sendable {
        /// A folder, or a document, that is opened.
        case plain
        /// A file that a desktop might run or install: all that are not known as documents, and those with the mode of a program.
        case runnable
    }

    /// The longest path, in bytes (PATH_MAX of Linux).
    private static let maxPath = 4096

    /// Its absolute path.
    package let path: String

    /// Nil for what is no absolute path of a file, or leads up in the middle.
    package init?(_ text: String) {
        guard text.hasPrefix("/"), text.utf8.count < Self.maxPath, !text.utf8.contains(0) else { return nil }
        let names = text.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        guard !names.contains(where: { $0 == ".." || $0 == "." || $0.isEmpty }) else { return nil }
        path = text
    }

    /// The folder that it is in.
    package var folder: String {
        let names = path.split(separator: "/").dropLast()
        return "/" + names.joined(separator: "/")
    }

    /// What is there; nil for nothing, or neither file nor folder. Looks at the disk.
    package func kind(in types: DocumentTypes) -> Kind? {
        if FolderListing.isFolder(path) { return .plain }
        guard PlainFile.version(at: path) != nil else { return nil }
        let isProgram = ProgramSearch(path: nil).find(path) != nil
        return isProgram || !types.isDocument(path) ? .runnable : .plain
    }
}
