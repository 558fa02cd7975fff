internal import Synchronization

/// Writes entries of one subsystem to a sink, from a level on. Message and fields are only made when they are written.
///
/// A logger and all that were named from it share one level. May be used on any thread.
///
/// Never give it payloads, titles, addresses of pages, keys or pairing secrets.
package struct Logger: Sendable {
    private let subsystem: String
    private let sink: any LogSink
    private let threshold: Threshold

    /// The level below which entries are dropped.
    private final class Threshold: Sendable {
        let level: Atomic<Int>

        init(_ level: LogLevel) {
            self.level = Atomic(level.rawValue)
        }
    }

    /// - Parameters:
    ///   - subsystem: the part of the program that speaks, such as `discovery`.
    ///   - level: the least important entries that are written.
    package init(subsystem: String, sink: any LogSink, level: LogLevel) {
        self.init(subsystem: subsystem, sink: sink, threshold: Threshold(level))
    }

    private init(subsystem: String, sink: any LogSink, threshold: Threshold) {
        self.subsystem = subsystem
        self.sink = sink
        self.threshold = threshold
    }

    /// The same sink and level for another part of the program.
    package func named(_ subsystem: String) -> Logger {
        Logger(subsystem: subsystem, sink: sink, threshold: threshold)
    }

    /// Sets the least important entries that this logger, and all that share its level, write from now on.
    package func setLevel(_ level: LogLevel) {
        threshold.level.store(level.rawValue, ordering: .relaxed)
    }

    /// Writes an entry when `level` is high enough.
    package func log(
        _ level: LogLevel, _ message: @autoclosure () -> String,
        _ fields: @autoclosure () -> KeyValuePairs<String, String> = [:]
    ) {
        guard level.rawValue >= threshold.level.load(ordering: .relaxed) else { return }
        let fields = fields().map { LogEntry.Field(name: $0.key, value: $0.value) }
        sink.write(LogEntry(level: level, subsystem: subsystem, message: message(), fields: fields))
    }

    /// For us while developing.
    package func debug(
        _ message: @autoclosure () -> String, _ fields: @autoclosure () -> KeyValuePairs<String, String> = [:]
    ) {
        log(.debug, message(), fields())
    }

    /// Helpful to somebody who looks for a cause.
    package func info(
        _ message: @autoclosure () -> String, _ fields: @autoclosure () -> KeyValuePairs<String, String> = [:]
    ) {
        log(.info, message(), fields())
    }

    /// What an operator needs to know.
    package func notice(
        _ message: @autoclosure () -> String, _ fields: @autoclosure () -> KeyValuePairs<String, String> = [:]
    ) {
        log(.notice, message(), fields())
    }

    /// Something outside went wrong.
    package func error(
        _ message: @autoclosure () -> String, _ fields: @autoclosure () -> KeyValuePairs<String, String> = [:]
    ) {
        log(.error, message(), fields())
    }

    /// A bug of ours.
    package func fault(
        _ message: @autoclosure () -> String, _ fields: @autoclosure () -> KeyValuePairs<String, String> = [:]
    ) {
        log(.fault, message(), fields())
    }
}
