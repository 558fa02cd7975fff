import CLinux
import Glibc

/// The arguments and environment of the process, as system text (`String.systemBytes`). Read them
/// before another thread can change them.
package enum ProcessEnvironment {
    /// The arguments after the program's name.
    package static var arguments: [String] {
        (0..<clinux_argument_count()).dropFirst().compactMap { clinux_argument($0).map { String(systemPath: $0) } }
    }

    /// Returns the value of a variable (getenv(3)), or nil if it is not set.
    package static func value(_ name: String) -> String? {
        guard let value = getenv(name) else { return nil }
        return String(systemPath: value)
    }

    /// All variables. If a variable is set twice, the first value is used.
    package static var all: [String: String] {
        var variables: [String: String] = [:]
        var next = environ
        while let entry = next.pointee {
            // Split bytes: a combining mark at the start of a value would form one character with
            // "=".
            let parts = UnsafeBufferPointer(start: entry, count: strlen(entry)).map { UInt8(bitPattern: $0) }
                .split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
                .map(String.init(systemBytes:))
            if parts.count == 2, variables[parts[0]] == nil { variables[parts[0]] = parts[1] }
            next += 1
        }
        return variables
    }

    /// The absolute folder of the program that this process runs (proc(5), `exe`), or nil if the
    /// system does not report it.
    package static var programFolder: String? {
        guard let path = program(of: "self") ?? executedPath else { return nil }
        return path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[..<$0]) }
    }

    /// The path by which the process was started, if it is absolute (getauxval(3)). Does not need
    /// /proc.
    private static var executedPath: String? {
        guard let name = clinux_executed_path() else { return nil }
        return name.pointee == CChar(bitPattern: UInt8(ascii: "/")) ? String(systemPath: name) : nil
    }

    /// The absolute path of the program that started this process, or nil if unknown, for example
    /// in a sandbox.
    package static var parentProgram: String? { program(of: "\(getppid())") }

    private static func program(of process: String) -> String? {
        FolderListing.target(ofLink: "/proc/\(process)/exe")
    }

    /// Returns true if a descriptor is a socket (fstat(2)).
    package static func isSocket(_ descriptor: Int32) -> Bool {
        (try? FileStatus(of: descriptor).isSocket) ?? false
    }

    /// Disables core files of this process and prevents debuggers of the same user from attaching
    /// (prctl(2)). Has no effect in a debug build, so that a debugger can attach to it.
    package static func disableDumps() {
        #if !DEBUG
            // Cannot fail with this argument.
            _ = clinux_forbid_dump()
        #endif
    }

    /// The effective user ID of the process (geteuid(2)).
    package static var userID: UInt32 { geteuid() }
}
