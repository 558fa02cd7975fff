import Glibc
import HandoffTestSupport
import LoopIO
import Testing

@Suite(.timeLimit(.minutes(5))) struct FileWriterTests {
    private static let blockSize = 1 << 16
    private static let sizes = [0, 1, blockSize - 1, blockSize, blockSize + 1, 3 * blockSize, 20 * blockSize + 7]

    private let loop: EventLoop

    init() throws {
        loop = try EventLoop()
    }

    private func write(_ bytes: ArraySlice<UInt8>, to writer: FileWriter) -> Int {
        bytes.withUnsafeBytes { writer.write($0) }
    }

    /// Writes all bytes in pieces, as room becomes available, and finishes.
    private func writeAll(_ bytes: [UInt8], to writer: FileWriter, piece: Int) throws -> Result<Int64, Errno>? {
        var outcome: Result<Int64, Errno>?
        var rest = bytes[...]
        func writeMore() {
            while !rest.isEmpty {
                let count = write(rest.prefix(piece), to: writer)
                rest = rest.dropFirst(count)
                if count < min(piece, rest.count + count) { return }
            }
            writer.finish { [loop] in
                outcome = $0
                loop.stop()
            }
        }
        writer.onRoom = { writeMore() }
        writer.onFailed = { [loop] in
            outcome = .failure($0)
            loop.stop()
        }
        writeMore()
        try loop.runUntilStopped()
        return outcome
    }

    @Test(arguments: FileForm.allCases, sizes)
    func `all bytes are written in order`(_ form: FileForm, _ size: Int) throws {
        let ends = try FileEnds(form)
        let bytes = pattern(size)
        let early = form == .file ? nil : try readElsewhere(ends.reading)
        let writer = try FileWriter(ends.writing, on: loop, blockSize: Self.blockSize)
        let outcome = try writeAll(bytes, to: writer, piece: 30_000)
        #expect(outcome == .success(Int64(size)))
        #expect(writer.written == size)
        // The file was closed before the end was reported, so the reader ends.
        let reader = try early ?? readElsewhere(ends.reading)
        reader.thread.join()
        #expect(reader.bytes.withLock { $0 } == bytes)
    }

    @Test(arguments: [FileForm.pipe, .namedPipe, .socket])
    func `a full pipe stops at two blocks and resumes`(_ form: FileForm) throws {
        let ends = try FileEnds(form)
        let writer = try FileWriter(ends.writing, on: loop, blockSize: Self.blockSize)
        #expect(writer.room == 2 * Self.blockSize)
        let bytes = pattern(8 << 20)
        var rest = bytes[...]
        // The kernel's buffer and two blocks fill up. Nothing is read, so writing stops.
        func fill() { while case let count = write(rest, to: writer), count > 0 { rest = rest.dropFirst(count) } }
        writer.onRoom = { fill() }
        fill()
        while true {
            var watched = pollfd(fd: try #require(ends.reading.raw), events: Int16(POLLIN), revents: 0)
            poll(&watched, 1, 120_000)
            let before = rest.count
            try loop.runTurns(100)
            if rest.count == before, writer.room == 0, writer.written > 0 { break }
        }
        let taken = bytes.count - rest.count
        #expect(Int64(taken) - writer.written <= 2 * Self.blockSize)
        #expect(!rest.isEmpty)
        let reader = try readElsewhere(ends.reading)
        var outcome: Result<Int64, Errno>?
        func writeMore() {
            fill()
            guard rest.isEmpty else { return }
            writer.finish { [loop] in
                outcome = $0
                loop.stop()
            }
        }
        writer.onRoom = { writeMore() }
        writeMore()
        try loop.runUntilStopped()
        #expect(outcome == .success(Int64(bytes.count)))
        reader.thread.join()
        #expect(reader.bytes.withLock { $0 } == bytes)
    }

    @Test(arguments: [FileForm.pipe, .namedPipe, .socket])
    func `cancelling ends a blocked write and closes the file`(_ form: FileForm) throws {
        let ends = try FileEnds(form)
        let writer = try FileWriter(ends.writing, on: loop, blockSize: 8 << 20)
        #expect(write(pattern(8 << 20)[...], to: writer) == 8 << 20)
        writer.onRoom = { Issue.record("room") }
        writer.onFailed = { _ in Issue.record("failed") }
        writer.finish { _ in Issue.record("finished") }
        // Wait until bytes arrive, so that the thread is writing.
        var watched = pollfd(fd: try #require(ends.reading.raw), events: Int16(POLLIN), revents: 0)
        #expect(poll(&watched, 1, 120_000) == 1)
        writer.cancel()
        #expect(writer.room == 0)
        // The reader ends, because the other end is closed.
        let reader = try readElsewhere(ends.reading)
        reader.thread.join()
        #expect(reader.bytes.withLock { $0.count } < 8 << 20)
        try loop.runTurns(3)
    }

    @Test func `a full device is reported once`() throws {
        let file = try FileEnds.open("/dev/full", O_WRONLY)
        let writer = try FileWriter(file, on: loop)
        #expect(try writeAll([1, 2, 3], to: writer, piece: 3) == .failure(Errno(rawValue: ENOSPC)))
        #expect(writer.written == 0)
        #expect(write([1], to: writer) == 0)
        #expect(writer.room == 0)
    }

    @Test func `a failure is reported without a finish`() throws {
        let writer = try FileWriter(FileEnds.open("/dev/full", O_WRONLY), on: loop)
        var errors: [Errno] = []
        writer.onFailed = { [loop] in
            errors.append($0)
            loop.stop()
        }
        #expect(write([1], to: writer) == 1)
        try loop.runUntilStopped()
        writer.finish { _ in Issue.record("finished") }
        try loop.runTurns(3)
        #expect(errors == [Errno(rawValue: ENOSPC)])
    }

    @Test func `a file size limit is reported with the count of written bytes`() async {
        // In a separate process, because the limit is process-wide.
        await #expect(processExitsWith: .success) {
            let loop = try EventLoop()
            let ends = try FileEnds(.file)
            var limit = rlimit(rlim_cur: 100_000, rlim_max: 100_000)
            guard setrlimit(__rlimit_resource_t(1), &limit) == 0 else { exit(1) }
            let writer = try FileWriter(ends.writing, on: loop, blockSize: 1 << 16)
            let bytes = pattern(1 << 17)
            guard bytes.withUnsafeBytes({ writer.write($0) }) == bytes.count else { exit(2) }
            writer.finish { outcome in
                // SIGXFSZ, which would have ended the process, is blocked in the thread.
                exit(outcome == .failure(.fileTooLarge) && writer.written == 100_000 ? 0 : 3)
            }
            try loop.run()
        }
    }

    @Test(arguments: [FileForm.pipe, .namedPipe, .socket])
    func `a closed reader is an error and not a signal`(_ form: FileForm) async throws {
        let ends = try FileEnds(form)
        // Also in a program that does not ignore SIGPIPE.
        let writer = try FileWriter(ends.writing, on: loop, blockSize: Self.blockSize)
        ends.reading.take()?.close()
        #expect(try writeAll(pattern(100), to: writer, piece: 100) == .failure(.brokenPipe))
    }

    @Test func `a pipe without a reader does not end the process`() async {
        await #expect(processExitsWith: .success) {
            let loop = try EventLoop()
            let ends = try FileEnds(.pipe)
            signal(SIGPIPE, SIG_DFL)
            let writer = try FileWriter(ends.writing, on: loop)
            ends.reading.take()?.close()
            writer.onFailed = { exit($0 == .brokenPipe ? 0 : 1) }
            [UInt8](repeating: 1, count: 10).withUnsafeBytes { _ = writer.write($0) }
            try loop.run()
        }
    }

    @Test func `few bytes are written immediately`() throws {
        let ends = try FileEnds(.pipe)
        let writer = try FileWriter(ends.writing, on: loop)
        for byte in UInt8(1)...3 {
            let bytes = [byte]
            #expect(writer.write(bytes.span) == 1)
            var watched = pollfd(fd: try #require(ends.reading.raw), events: Int16(POLLIN), revents: 0)
            while poll(&watched, 1, 0) == 0 { try loop.runTurns(1) }
            var buffer: UInt8 = 0
            #expect(read(watched.fd, &buffer, 1) == 1)
            #expect(buffer == byte)
        }
        writer.cancel()
    }
}
