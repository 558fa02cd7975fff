import CLinux
import Glibc

/// The arguments of the process, as system text (`String.systemBytes`). Read it before other threads could change it.
package enum ProcessEnvironment {
    /// The arguments behind the program's name.
    package static var arguments: [String] {
        (0..<clinux_argument_count()).dropFirst().compactMap { clinux_argument($0).map { String(systemPath: $0) } }
    }

    /// The value of a variable (getenv(3)); nil when it is not set.
    package static func value(_ name: String) -> String? {
        guard let value = getenv(name) else { return nil }
        return String(systemPath: value)
    }

    /// All variables; of one that is set twice, the first.
    package static var all: [String: String] {
        var variables: [String: String] = [:]
        var next = environ
        while let entry = next.pointee {
            // Of bytes: a value may begin with a mark, which makes one character with the sign.
            let parts = UnsafeBufferPointer(start: entry, count: strlen(entry)).map { UInt8(bitPattern: $0) }
                .split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
                .map(String.init(systemBytes:))
            if parts.count == 2, variables[parts[0]] == nil { variables[parts[0]] = parts[1] }
            next += 1
        }
        return variables
    }

    /// The folder of the program that this process runs (proc(5), `exe`), absolute; nil when the system does not say.
    package static var programFolder: String? {
        guard let path = program(of: "self") ?? executedPath else { return nil }
        return path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[..<$0]) }
    }

    /// By what the process was started, where that is absolute (getauxval(3)): needs no /proc.
    private static var executedPath: String? {
        guard let name = clinux_executed_path() else { return nil }
        return name.pointee == CChar(bitPattern: UInt8(ascii: "/")) ? String(systemPath: name) : nil
    }

    /// The program that has started this process, absolute; nil when the system does not say, as of one in a sandbox.
    package static var parentProgram: String? { program(of: "\(getppid())") }

    private static func program(of process: String) -> String? {
        FolderListing.target(ofLink: "/proc/\(process)/exe")
    }

    /// Whether a descriptor is a socket (fstat(2)).
    package static func isSocket(_ descriptor: Int32) -> Bool {
        (try? FileStatus(of: descriptor).isSocket) ?? false
    }

    /// No core file of this process is written, and no debugger of the same user may attach (prctl(2)).
    package static func forbidDump() {
        // Cannot fail with this argument.
        _ = clinux_forbid_dump()
    }

    /// The user that the process acts for (geteuid(2)).
    package static var userID: UInt32 { geteuid() }
}
