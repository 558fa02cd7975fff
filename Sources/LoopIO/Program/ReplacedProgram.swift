import Glibc

/// Another program that continues in this process (execvp(3)).
package enum ReplacedProgram {
    /// Replaces this program by one in `PATH`. Returns only if that is impossible.
    ///
    /// - Parameters:
    ///   - words: its name and its arguments.
    ///   - variables: added to its environment.
    package static func run(_ words: [String], variables: [String: String]) -> Errno {
        guard let program = words.first else { return .invalidArgument }
        for (name, value) in variables { setenv(name, value.systemPath, 1) }
        ProcessSignals.reset()
        _ = DetachedProgram.withCStrings(words) { execvp(program.systemPath, $0) }
        return Errno(rawValue: errno)
    }
}
