import CLinux
import Glibc

/// A running `/bin/sh -c COMMAND`. Used on the loop's thread only.
package final class ShellCommand {
    /// Where the command's standard output goes.
    package enum Output: Sendable {
        /// To ours.
        case standardOutput
        /// To our standard error, where it cannot be taken for our own results.
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

    /// Starts the command; `clinux_spawn_shell` says what it gets, and what it does not.
    /// - Parameter input: what it reads from its standard input.
    /// - Throws: an error of posix_spawn(3), memfd_create(2) or pidfd_open(2).
    package init(_ command: String, input: [UInt8], output: Output) throws(Errno) {
        // Whoever started us may ignore SIGCHLD, and then the command's status would be lost.
        Glibc.signal(SIGCHLD, SIG_DFL)
        var child: pid_t = 0
        let error = clinux_spawn_shell(command.systemPath, input, input.count, output.descriptor, &child)
        if error != 0 { throw Errno(rawValue: error) }
        self.child = child
        descriptor = Descriptor(owning: try SystemCall.retrying { clinux_open_child(child) })
    }

    deinit {
        // The source ends before its descriptor is closed.
        source?.cancel()
    }

    /// Runs a command with fixed text, waits for its end, and returns its standard output.
    /// - Returns: nil when it failed, or wrote more than `limit` bytes.
    package static func output(of command: String, limit: Int) -> [UInt8]? {
        Glibc.signal(SIGCHLD, SIG_DFL)
        guard let pipe = popen("exec \(command) 2>/dev/null </dev/null", "re") else { return nil }
        var bytes: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 65_536)
        while bytes.count <= limit {
            let count = fread(&block, 1, block.count, pipe)
            if count == 0 { break }
            bytes += block.prefix(count)
        }
        return pclose(pipe) == 0 && bytes.count <= limit ? bytes : nil
    }

    /// Calls back once, when the command has ended; keeps itself alive until then.
    /// - Parameter ended: gets the exit status, or 256 plus the number of the signal that ended it.
    package func wait(on loop: EventLoop, _ ended: @escaping (Int32) -> Void) throws(Errno) {
        guard let number = descriptor?.raw else { return }
        source = try loop.watch(number, .readable) { [self] _ in
            let status = clinux_child_status(child)
            guard status != -1 else { return }
            source?.cancel()
            source = nil
            descriptor = nil
            // Below -1 somebody else took the status: it did not end well as far as we know.
            ended(status >= 0 ? status : 255)
        }
    }
}
