import CLinux
import Glibc

/// Standard output and standard error of a command-line program, which waits until its reader takes what it writes.
package enum StandardStream: Int32, Sendable {
    /// For results.
    case output = 1
    /// For everything else.
    case error = 2

    /// Whether a person looks at it (isatty(3)).
    package var isTerminal: Bool { isatty(rawValue) == 1 }

    /// How many columns the terminal has; nil when it does not say, or when it is none.
    package var columns: Int? {
        let columns = Int(clinux_terminal_columns(rawValue))
        return columns > 0 ? columns : nil
    }

    /// Writes all bytes.
    /// - Throws: an error of write(2); EPIPE when nobody reads any more.
    package func write(_ bytes: [UInt8]) throws(Errno) {
        try Self.write(bytes, to: rawValue)
    }

    /// Throws the error that the end of the process would lose: some file systems report a full disk when a file is closed.
    package func finish() throws(Errno) {
        do throws(Errno) {
            try SystemCall.flush(rawValue)
        } catch .badDescriptor {
            // The program was started without this stream.
        }
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
                // Whoever shares the terminal or pipe with us made it non-blocking.
                var poll = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                try SystemCall.retrying { Glibc.poll(&poll, 1, -1) }
            }
        }
    }
}
