import Glibc

/// Standard input of a command-line program that a person or another program answers on.
package enum StandardInput {
    /// Whether a person types there (isatty(3)).
    package static var isTerminal: Bool { isatty(STDIN_FILENO) == 1 }

    /// Reads what is there, at most `limit` bytes, and waits until there is something; nothing at the end of input. For a
    /// thread that may wait.
    /// - Throws: an error of read(2).
    package static func readSome(limit: Int) throws(Errno) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: limit)
        while true {
            do throws(Errno) {
                let count = try SystemCall.retrying { read(STDIN_FILENO, &bytes, bytes.count) }
                return Array(bytes[..<count])
            } catch .wouldBlock {
                // Whoever shares the terminal or pipe with us made it non-blocking.
                var poll = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
                try SystemCall.retrying { Glibc.poll(&poll, 1, -1) }
            }
        }
    }

    /// Reads one line, and waits for it; nothing behind the line is taken away from whoever reads on.
    /// - Parameter limit: the most bytes that it may have.
    /// - Returns: the line without its end; nil when there is none left.
    /// - Throws: an error of read(2), EMSGSIZE above the limit.
    package static func readLine(limit: Int) throws(Errno) -> [UInt8]? {
        var line: [UInt8] = []
        var byte: UInt8 = 0
        // A byte at a time: a pipe cannot be given back what was read too far.
        while try SystemCall.retrying({ read(STDIN_FILENO, &byte, 1) }) == 1 {
            if byte == UInt8(ascii: "\n") { return line }
            guard line.count < limit else { throw .messageTooLong }
            line.append(byte)
        }
        return line.isEmpty ? nil : line
    }
}
