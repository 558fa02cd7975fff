import CLinux
import Glibc

/// The standard output or standard error of a command-line program. Writing blocks until the reader
/// accepts the bytes.
package enum StandardStream: Int32, Sendable {
    /// For results.
    case output = 1
    /// For everything else.
    case error = 2

    /// True if the stream is a terminal (isatty(3)).
    package var isTerminal: Bool { isatty(rawValue) == 1 }

    /// The number of columns of the terminal, or nil if unknown or not a terminal.
    package var columns: Int? {
        let columns = Int(clinux_terminal_columns(rawValue))
        return columns > 0 ? columns : nil
    }

    /// Writes all bytes.
    /// - Throws: an error of write(2); EPIPE if there is no reader.
    package func write(_ bytes: [UInt8]) throws(Errno) {
        try Self.write(bytes, to: rawValue)
    }

    /// Throws an error that would be lost at the end of the process: some file systems report a
    /// full disk when a file is closed.
    package func finish() throws(Errno) {
        do throws(Errno) {
            try SystemCall.flush(rawValue)
        } catch .badDescriptor {
            // The program was started without this stream.
        }
    }

    /// Ends the stream for its reader. Later output is discarded: the number must not belong to
    /// another file.
    package func end() throws(Errno) {
        let null = Descriptor(owning: try SystemCall.retrying { Glibc.open("/dev/null", O_WRONLY | O_CLOEXEC) })
        try SystemCall.retrying { dup2(null.raw, rawValue) }
    }

    static func write(_ bytes: [UInt8], to descriptor: Int32) throws(Errno) {
        var rest = bytes[...]
        while !rest.isEmpty {
            do throws(Errno) {
                let count = try SystemCall.retrying {
                    rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
                }
                rest = rest.dropFirst(count)
            } catch .wouldBlock {
                // Another process that shares the terminal or pipe has made it non-blocking.
                var poll = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                try SystemCall.retrying { Glibc.poll(&poll, 1, -1) }
            }
        }
    }
}
