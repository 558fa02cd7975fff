/// Writes entries of one subsystem to a sink, from a level on. Message and fields are only made when they are written.
///
/// Never give it payloads, titles, addresses of pages, keys or pairing secrets.
package struct Logger: Sendable {
    private let subsystem: String
    private let sink: any LogSink
    /// Entries below are dropped.
    package let level: LogLevel

    /// - Parameter subsystem: the part of the program that speaks, such as `discovery`.
    package init(subsystem: String, sink: any LogSink, level: LogLevel) {
        self.subsystem = subsystem
        self.sink = sink
        self.level = level
    }

    /// The same sink and level for another part of the program.
    package func named(_ subsystem: String) -> Logger {
        Logger(subsystem: subsystem, sink: sink, level: level)
    }

    /// Writes an entry when `level` is high enough.
    package func log(
        _ level: LogLevel, _ message: @autoclosure () -> String,
        _ fields: @autoclosure () -> KeyValuePairs<String, String> = [:]
    ) {
        guard level >= self.level else { return }
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
