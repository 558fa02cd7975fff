import CLinux
import Glibc

/// What the process was started with. Read it before other threads could change it.
package enum ProcessEnvironment {
    /// The value of a variable (getenv(3)); nil when it is not set.
    package static func value(_ name: String) -> String? {
        guard let value = getenv(name) else { return nil }
        return String(cString: value)
    }

    /// All variables; of one that is set twice, the first.
    package static var all: [String: String] {
        var variables: [String: String] = [:]
        var next = environ
        while let entry = next.pointee {
            let parts = String(cString: entry).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2, variables[String(parts[0])] == nil { variables[String(parts[0])] = String(parts[1]) }
            next += 1
        }
        return variables
    }

    /// The folder of the program that this process runs (proc(5), `exe`), absolute; nil when the system does not say.
    package static var programFolder: String? {
        guard let path = program(of: "self") else { return nil }
        return path.lastIndex(of: "/").map { String(path[..<$0]) }
    }

    /// The program that has started this process, absolute; nil when the system does not say, as of one in a sandbox.
    package static var parentProgram: String? { program(of: "\(getppid())") }

    private static func program(of process: String) -> String? {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/\(process)/exe", &buffer, buffer.count)
        guard count > 0, count < buffer.count else { return nil }
        return String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
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
