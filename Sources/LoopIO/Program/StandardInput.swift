import Glibc

/// The standard input of a command-line program, through which a user or another program enters
/// answers.
package enum StandardInput {
    /// True if standard input is a terminal (isatty(3)).
    package static var isTerminal: Bool { isatty(STDIN_FILENO) == 1 }

    /// Reads up to `limit` available bytes, and blocks until there are any. Returns an empty array
    /// at the end of input. Call it on a thread that may block.
    /// - Throws: an error of read(2).
    package static func readSome(limit: Int) throws(Errno) -> [UInt8] {
        while true {
            var result = Result<Int, Errno>.success(0)
            let bytes = [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
                result = Result { () throws(Errno) in
                    try SystemCall.retrying { read(STDIN_FILENO, buffer.baseAddress, limit) }
                }
                count = (try? result.get()) ?? 0
            }
            do throws(Errno) {
                _ = try result.get()
                return bytes
            } catch .wouldBlock {
                // Another process that shares the terminal or pipe has made it non-blocking.
                var poll = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
                try SystemCall.retrying { Glibc.poll(&poll, 1, -1) }
            }
        }
    }

    /// Reads one line, and blocks until it is complete. Bytes after the line are left for other
    /// readers.
    /// - Parameter limit: the maximum length in bytes.
    /// - Returns: the line without its terminator, or nil at the end of input.
    /// - Throws: an error of read(2), EMSGSIZE above the limit.
    package static func readLine(limit: Int) throws(Errno) -> [UInt8]? {
        var line: [UInt8] = []
        var byte: UInt8 = 0
        // Read byte by byte, because bytes read from a pipe cannot be put back.
        while try SystemCall.retrying({ read(STDIN_FILENO, &byte, 1) }) == 1 {
            if byte == UInt8(ascii: "\n") { return line }
            guard line.count < limit else { throw .messageTooLong }
            line.append(byte)
        }
        return line.isEmpty ? nil : line
    }
}
