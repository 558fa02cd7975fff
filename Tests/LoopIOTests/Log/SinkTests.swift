import Glibc
import Testing

@testable import LoopIO

struct SinkTests {
    private let entry = LogEntry(
        level: .error, subsystem: "peer", message: "Lost a peer", fields: [.init(name: "peerName", value: "a b")])

    /// Returns what a sink writes to a pipe.
    private func written(_ body: (Int32) -> Void) throws -> String {
        let pair = try Descriptor.pipe()
        body(pair.second.raw)
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = read(pair.first.raw, &buffer, buffer.count)
        return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
    }

    @Test func `the journal gets the priority`() throws {
        let text = try written { StderrSink(descriptor: $0, isJournal: true).write(entry) }
        #expect(text == "<3>peer: Lost a peer peerName=\"a b\"\n")
    }

    @Test func `without the journal a line starts with time and level`() throws {
        let text = try written { StderrSink(descriptor: $0, isJournal: false).write(entry) }
        #expect(text.hasSuffix(" error peer: Lost a peer peerName=\"a b\"\n"))
        // 2026-01-02T03:04:05.678+00:00
        let stamp = text.prefix { $0 != " " }
        #expect(stamp.count == 29)
        let shape = stamp.map { $0.isNumber ? "0" : $0 == "-" && stamp.last != $0 ? "-" : $0 }
        #expect(String(shape.prefix(23)) == "0000-00-00T00:00:00.000")
    }

    @Test func `the journal is detected by device and inode`() async {
        // In a separate process, because the environment is process-wide.
        await #expect(processExitsWith: .success) {
            let pair = try Descriptor.pipe()
            var status = stat()
            fstat(pair.second.raw, &status)
            func firstByte() -> UInt8 {
                StderrSink(descriptor: pair.second.raw).write(
                    LogEntry(level: .info, subsystem: "s", message: "M"))
                var buffer = [UInt8](repeating: 0, count: 1_000)
                _ = read(pair.first.raw, &buffer, buffer.count)
                return buffer[0]
            }
            unsetenv("JOURNAL_STREAM")
            precondition(firstByte() != UInt8(ascii: "<"))
            setenv("JOURNAL_STREAM", "1:2", 1)
            precondition(firstByte() != UInt8(ascii: "<"))
            setenv("JOURNAL_STREAM", "\(status.st_dev):\(status.st_ino)", 1)
            precondition(firstByte() == UInt8(ascii: "<"))
        }
    }

    @Test func `lines of several threads do not mix`() throws {
        let text = try written { descriptor in
            let sink = StderrSink(descriptor: descriptor, isJournal: true)
            let threads = (0..<4).compactMap { number in
                try? OwnedThread(name: "writer") {
                    for _ in 0..<50 {
                        sink.write(
                            LogEntry(
                                level: .info, subsystem: "s\(number)",
                                message: String(repeating: "\(number)", count: 100)))
                    }
                }
            }
            #expect(threads.count == 4)
            for thread in threads { thread.join() }
        }
        let lines = text.split(separator: "\n")
        #expect(lines.count == 200)
        for line in lines {
            let number = String(line.dropFirst(4).prefix(1))
            #expect(line == "<6>s\(number): \(String(repeating: number, count: 100))")
        }
    }

    @Test func `a log write error is ignored`() {
        StderrSink(descriptor: -1).write(entry)
    }
}
