import Glibc

/// The folders to search for programs, as a shell does with `PATH`.
package struct ProgramSearch: Sendable, Equatable {
    /// The search path if `PATH` is not set.
    private static let standard = "/usr/local/bin:/usr/bin:/bin"

    private let folders: [String]

    /// - Parameter path: the value of `PATH`; entries that are not absolute are ignored.
    package init(path: String?) {
        folders = (path ?? Self.standard).split(separator: ":").map(String.init).filter { $0.hasPrefix("/") }
    }

    /// Returns the absolute path of a program. May block on a disk.
    ///
    /// - Parameter program: an absolute path, or a name without slashes.
    /// - Returns: nil if no executable program is found.
    package func find(_ program: String) -> String? {
        if program.utf8.first == UInt8(ascii: "/") { return Self.isProgram(program) ? program : nil }
        guard !program.isEmpty, !program.utf8.contains(UInt8(ascii: "/")) else { return nil }
        return folders.lazy.map { "\($0)/\(program)" }.first(where: Self.isProgram)
    }

    /// Returns true for a regular file that this process may execute (access(2)).
    private static func isProgram(_ path: String) -> Bool {
        var status = stat()
        return stat(path.systemPath, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
            && access(path.systemPath, X_OK) == 0
    }
}
