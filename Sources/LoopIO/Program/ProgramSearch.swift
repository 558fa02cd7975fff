import Glibc

/// Where programs are looked for, as a shell does with `PATH`.
package struct ProgramSearch: Sendable, Equatable {
    /// What is searched when `PATH` is not set.
    private static let standard = "/usr/local/bin:/usr/bin:/bin"

    private let folders: [String]

    /// - Parameter path: the value of `PATH`; entries that are not absolute are passed over.
    package init(path: String?) {
        folders = (path ?? Self.standard).split(separator: ":").map(String.init).filter { $0.hasPrefix("/") }
    }

    /// The absolute path of a program.
    ///
    /// - Parameter program: an absolute path, or a name without slashes. May wait for a disk.
    /// - Returns: nil when there is none that may be run.
    package func find(_ program: String) -> String? {
        if program.utf8.first == UInt8(ascii: "/") { return Self.isProgram(program) ? program : nil }
        guard !program.isEmpty, !program.utf8.contains(UInt8(ascii: "/")) else { return nil }
        return folders.lazy.map { "\($0)/\(program)" }.first(where: Self.isProgram)
    }

    /// Whether a plain file may be run by us (access(2)).
    private static func isProgram(_ path: String) -> Bool {
        var status = stat()
        return stat(path.systemPath, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
            && access(path.systemPath, X_OK) == 0
    }
}
