package import LoopIO

/// Stores log entries for tests that inspect them.
package final class MemorySink: LogSink {
    private let stored = Locked<[LogEntry]>([])

    /// Creates a sink without entries.
    package init() {}

    /// Stores the entry.
    package func write(_ entry: LogEntry) {
        stored.withLock { $0.append(entry) }
    }

    /// The stored entries, oldest first.
    package var entries: [LogEntry] {
        stored.withLock { $0 }
    }
}
