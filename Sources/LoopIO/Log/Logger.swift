internal import Synchronization

/// Writes entries of one subsystem at or above a level to a sink. Message and fields are evaluated
/// only if they are written.
///
/// A logger and all loggers created from it by `named` share one level. May be used on any thread.
///
/// Never log payloads, titles, page addresses, keys or pairing secrets.
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
    ///   - subsystem: the part of the program that logs, such as `discovery`.
    ///   - level: the lowest level that is written.
    package init(subsystem: String, sink: any LogSink, level: LogLevel) {
        self.init(subsystem: subsystem, sink: sink, threshold: Threshold(level))
    }

    private init(subsystem: String, sink: any LogSink, threshold: Threshold) {
        self.subsystem = subsystem
        self.sink = sink
        self.threshold = threshold
    }

    /// Returns a logger for another part of the program, with the same sink and level.
    package func named(_ subsystem: String) -> Logger {
        Logger(subsystem: subsystem, sink: sink, threshold: threshold)
    }

    /// Sets the lowest level that this logger and all loggers that share its level write from now
    /// on.
    package func setLevel(_ level: LogLevel) {
        threshold.level.store(level.rawValue, ordering: .relaxed)
    }

    /// Writes an entry if `level` is high enough.
    func log(
        _ level: LogLevel, _ message: @autoclosure () -> String,
        _ fields: @autoclosure () -> KeyValuePairs<String, String> = [:]
    ) {
        guard level.rawValue >= threshold.level.load(ordering: .relaxed) else { return }
        let fields = fields().map { LogEntry.Field(name: $0.key, value: $0.value) }
        sink.write(LogEntry(level: level, subsystem: subsystem, message: message(), fields: fields))
    }

    /// Logs an entry for developers of this program.
    package func debug(
        _ message: @autoclosure () -> String, _ fields: @autoclosure () -> KeyValuePairs<String, String> = [:]
    ) {
        log(.debug, message(), fields())
    }

    /// Logs an entry for users who investigate a problem.
    package func info(
        _ message: @autoclosure () -> String, _ fields: @autoclosure () -> KeyValuePairs<String, String> = [:]
    ) {
        log(.info, message(), fields())
    }

    /// Logs an entry for operators.
    package func notice(
        _ message: @autoclosure () -> String, _ fields: @autoclosure () -> KeyValuePairs<String, String> = [:]
    ) {
        log(.notice, message(), fields())
    }

    /// Logs a failure outside this program.
    package func error(
        _ message: @autoclosure () -> String, _ fields: @autoclosure () -> KeyValuePairs<String, String> = [:]
    ) {
        log(.error, message(), fields())
    }

    /// Logs a bug in this program.
    package func fault(
        _ message: @autoclosure () -> String, _ fields: @autoclosure () -> KeyValuePairs<String, String> = [:]
    ) {
        log(.fault, message(), fields())
    }
}
