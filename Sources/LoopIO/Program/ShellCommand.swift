import CLinux
import Glibc

/// A running `/bin/sh -c COMMAND`. Use it on the loop's thread only.
package final class ShellCommand {
    /// The destination of the command's standard output.
    package enum Output: Sendable {
        /// This process's standard output.
        case standardOutput
        /// This process's standard error, where it cannot be mistaken for results.
        case standardError

        fileprivate var descriptor: Int32 {
            switch self {
            case .standardOutput: STDOUT_FILENO
            case .standardError: STDERR_FILENO
            }
        }
    }

    private let child: Int32
    private var descriptor: Descriptor?
    private var source: EventSource?

    /// Starts the command. See `clinux_spawn_shell` for what it inherits.
    /// - Parameter input: the content of its standard input.
    /// - Throws: an error of posix_spawn(3), memfd_create(2) or pidfd_open(2).
    package init(_ command: String, input: [UInt8], output: Output) throws(Errno) {
        // The parent process may have set SIGCHLD to be ignored, which would lose the command's
        // status.
        Glibc.signal(SIGCHLD, SIG_DFL)
        var child: pid_t = 0
        let error = clinux_spawn_shell(command.systemPath, input, input.count, output.descriptor, &child)
        if error != 0 { throw Errno(rawValue: error) }
        self.child = child
        descriptor = Descriptor(owning: try SystemCall.retrying { clinux_open_child(child) })
    }

    deinit {
        // Cancel the source before its descriptor is closed.
        source?.cancel()
    }

    /// Calls back once after the command has ended. The object retains itself until then.
    /// - Parameter ended: receives the exit status, or 256 plus the number of the signal that ended
    ///   the command.
    package func wait(on loop: EventLoop, _ ended: @escaping (Int32) -> Void) throws(Errno) {
        guard let number = descriptor?.raw else { return }
        source = try loop.watch(number, .readable) { [self] _ in
            let status = clinux_child_status(child)
            guard status != -1 else { return }
            source?.cancel()
            source = nil
            descriptor = nil
            // Below -1: other code has reaped the child. Report a failure, because success is not
            // certain.
            ended(status >= 0 ? status : 255)
        }
    }
}
