import HandoffTestSupport
import Testing

@testable import LoopIO

struct LoggerTests {
    @Test(arguments: LogLevel.allCases)
    func `writes entries at or above its level`(_ level: LogLevel) {
        let sink = MemorySink()
        let logger = Logger(subsystem: "test", sink: sink, level: level)
        logger.debug("Debug")
        logger.info("Info")
        logger.notice("Notice")
        logger.error("Error")
        logger.fault("Fault")
        #expect(sink.entries.map(\.level) == LogLevel.allCases.filter { $0 >= level })
    }

    @Test func `a new level applies to all loggers that share it`() {
        let sink = MemorySink()
        let logger = Logger(subsystem: "daemon", sink: sink, level: .notice)
        let other = logger.named("discovery")
        logger.setLevel(.debug)
        other.debug("Shown")
        other.setLevel(.fault)
        logger.error("Not shown")
        #expect(sink.entries.map(\.message) == ["Shown"])
    }

    @Test func `a message that is not written is not evaluated`() {
        let logger = Logger(subsystem: "test", sink: MemorySink(), level: .notice)
        func message() -> String {
            Issue.record("evaluated needlessly")
            return ""
        }
        logger.debug("Value \(message())", ["field": message()])
        logger.info(message())
    }

    @Test func `an entry carries subsystem message and fields in order`() {
        let sink = MemorySink()
        let logger = Logger(subsystem: "daemon", sink: sink, level: .debug).named("discovery")
        logger.notice("Found a device", ["peer": "abc", "count": "2"])
        #expect(
            sink.entries == [
                LogEntry(
                    level: .notice, subsystem: "discovery", message: "Found a device",
                    fields: [.init(name: "peer", value: "abc"), .init(name: "count", value: "2")])
            ])
    }

    @Test(arguments: [
        ("plain", "plain"), ("two words", "\"two words\""), ("", "\"\""), ("say \"hi\"", "\"say \\\"hi\\\"\""),
        ("a\nb", "a\\u{A}b"), ("\u{1B}[31m", "\\u{1B}[31m"), ("a\u{202E}b", "a\\u{202E}b"), ("ümläut", "ümläut"),
        ("a\r\nb", "a\\u{D}\\u{A}b"), ("a\u{3164}b", "a\\u{3164}b"), ("\u{E0041}", "\\u{E0041}"), ("\u{85}", "\\u{85}"),
        ("x=\u{2066}", "x=\\u{2066}"),
    ])
    func `values cannot forge a line`(_ value: String, _ written: String) {
        let entry = LogEntry(level: .info, subsystem: "s", message: "M", fields: [.init(name: "n", value: value)])
        #expect(entry.line == "s: M n=\(written)")
    }

    @Test func `messages cannot forge a line either`() {
        #expect(LogEntry(level: .info, subsystem: "s", message: "a\nb").line == "s: a\\u{A}b")
    }

    @Test func `levels have names and priorities`() {
        #expect(LogLevel.allCases.map(\.name) == ["debug", "info", "notice", "error", "fault"])
        #expect(LogLevel.allCases.map(\.priority) == [7, 6, 5, 3, 2])
        for level in LogLevel.allCases { #expect(LogLevel(name: level.name) == level) }
        #expect(LogLevel(name: "warning") == nil)
    }
}
