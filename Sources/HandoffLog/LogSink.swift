/// Where entries go. Called by any thread; returns quickly and never fails in a way that the caller would see.
package protocol LogSink: Sendable {
    func write(_ entry: LogEntry)
}
