package import HandoffLog
import LoopIO

/// Keeps entries, for tests that look at what was logged.
package final class MemorySink: LogSink {
    private let stored = Locked<[LogEntry]>([])

    /// A sink without entries.
    package init() {}

    /// Keeps the entry.
    package func write(_ entry: LogEntry) {
        stored.withLock { $0.append(entry) }
    }

    /// What was written so far, oldest first.
    package var entries: [LogEntry] {
        stored.withLock { $0 }
    }
}
