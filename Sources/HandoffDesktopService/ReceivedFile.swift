package import LoopIO

/// The path of a file or folder received from another device, as named by the daemon.
package struct ReceivedFile: Equatable, Sendable {
    /// The kind of the item.
    package enum Kind: Equatable, Sendable {
        /// A folder or a document, which is opened.
        case plain
        /// A file that a desktop might run or install: any file that is not known to be a document,
        /// or is executable.
        case runnable
    }

    /// The maximum length of a path, in bytes (Linux PATH_MAX).
    private static let maxPath = 4096

    /// The absolute path.
    let path: String

    /// Nil unless the text is an absolute path without NUL, and without empty, `.` or `..` names.
    package init?(_ text: String) {
        guard text.hasPrefix("/"), text.utf8.count < Self.maxPath, !text.utf8.contains(0) else { return nil }
        let names = text.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        guard !names.contains(where: { $0 == ".." || $0 == "." || $0.isEmpty }) else { return nil }
        path = text
    }

    /// The parent folder.
    package var folder: String {
        let names = path.split(separator: "/").dropLast()
        return "/" + names.joined(separator: "/")
    }

    /// Returns the kind of the item; nil if it does not exist or is neither a file nor a folder.
    /// Accesses the disk.
    package func kind(in types: DocumentTypes) -> Kind? {
        if FolderListing.isFolder(path) { return .plain }
        guard PlainFile.version(at: path) != nil else { return nil }
        let isProgram = ProgramSearch(path: nil).find(path) != nil
        return isProgram || !types.isDocument(path) ? .runnable : .plain
    }
}
