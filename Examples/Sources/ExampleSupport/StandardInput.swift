import Foundation

enum StandardInput {
    /// Opens /dev/null if standard input is closed. Otherwise the next file to be opened would get
    /// its number, and commands would be read from it.
    static func reserve() {
        if fcntl(STDIN_FILENO, F_GETFD) < 0 { _ = open("/dev/null", O_RDONLY) }
    }

    /// Waits for input, on any thread (read(2), and poll(2) if another program has made it
    /// non-blocking).
    /// - Returns: an empty array at the end, and after an error.
    static func next() -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while true {
            let count = buffer.withUnsafeMutableBytes { read(STDIN_FILENO, $0.baseAddress, $0.count) }
            if count >= 0 { return Array(buffer[..<count]) }
            switch errno {
            case EINTR: continue
            case EAGAIN:
                var wait = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
                poll(&wait, 1, -1)
            default: return []
            }
        }
    }
}
