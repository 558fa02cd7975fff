import Foundation

/// The standard input of the process.
enum StandardInput {
    /// Opens something in its place where it was closed: its number would be that of the next thing to be opened
    /// otherwise, from which commands would then be read.
    static func reserve() {
        if fcntl(STDIN_FILENO, F_GETFD) < 0 { _ = open("/dev/null", O_RDONLY) }
    }

    /// Waits for input, on any thread (read(2), and poll(2) where another program has made it non-blocking).
    /// - Returns: nothing at its end, also when it has failed.
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
