import CLinux
import Glibc

/// A destination for log entries. Called on any thread. It must return quickly and must not report
/// failures to the caller.
package protocol LogSink: Sendable {
    func write(_ entry: LogEntry)
}

/// Writes lines to standard error, prefixed with a priority for the journal (sd-daemon(3)) or with
/// the time otherwise.
package final class StderrSink: LogSink {
    private let descriptor: Int32
    private let isJournal: Bool
    /// Prevents lines of several threads from mixing.
    private let lock = Locked(())

    /// - Parameters:
    ///   - descriptor: the output; standard error except in tests.
    ///   - isJournal: true if the journal reads the output; nil detects it from `JOURNAL_STREAM`.
    package init(descriptor: Int32 = 2, isJournal: Bool? = nil) {
        self.descriptor = descriptor
        self.isJournal = isJournal ?? Self.isConnectedToJournal(descriptor)
    }

    package func write(_ entry: LogEntry) {
        let prefix = isJournal ? "<\(entry.level.priority)>" : "\(Self.timestamp()) \(entry.level.name) "
        let bytes = Array((prefix + entry.line + "\n").utf8)
        lock.withLock { _ in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes { buffer in
                    // Ignore log write errors: there is nowhere else to report them.
                    (try? SystemCall.retrying { Glibc.write(descriptor, buffer.baseAddress, buffer.count) }) ?? 0
                }
                guard count > 0 else { return }
                rest = rest.dropFirst(count)
            }
        }
    }

    /// Returns true if the descriptor is the journal's stream. The service manager puts its device
    /// and inode into the environment (systemd.exec(5), `JOURNAL_STREAM`). A child with another
    /// standard error inherits the variable.
    private static func isConnectedToJournal(_ descriptor: Int32) -> Bool {
        guard let value = getenv("JOURNAL_STREAM") else { return false }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return false }
        return String(cString: value) == "\(status.st_dev):\(status.st_ino)"
    }

    /// Local time with milliseconds and UTC offset (RFC 3339).
    private static func timestamp() -> String {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        var parts = tm()
        localtime_r(&now.tv_sec, &parts)
        func pad(_ number: Int, _ width: Int = 2) -> String {
            let digits = String(number)
            return String(repeating: "0", count: max(0, width - digits.count)) + digits
        }
        let date = "\(Int(parts.tm_year) + 1900)-\(pad(Int(parts.tm_mon) + 1))-\(pad(Int(parts.tm_mday)))"
        let time = "\(pad(Int(parts.tm_hour))):\(pad(Int(parts.tm_min))):\(pad(Int(parts.tm_sec)))"
        let offset = abs(parts.tm_gmtoff) / 60
        let sign = parts.tm_gmtoff < 0 ? "-" : "+"
        return "\(date)T\(time).\(pad(now.tv_nsec / 1_000_000, 3))\(sign)\(pad(offset / 60)):\(pad(offset % 60))"
    }
}
