import Glibc
import HandoffTestSupport
import LoopIO
import Testing

@Suite(.timeLimit(.minutes(5))) struct FileReaderTests {
    private static let blockSize = 1 << 16
    private static let sizes = [0, 1, blockSize - 1, blockSize, blockSize + 1, 3 * blockSize]

    private let loop: EventLoop

    init() throws {
        loop = try EventLoop()
    }

    /// Takes all blocks until the end, and records the bytes.
    private final class Sink {
        var bytes: [UInt8] = []
        var largest = 0
        var outcome: Result<Int64, Errno>?

        func attach(to reader: FileReader, loop: EventLoop) {
            reader.onBlock = { [unowned self, unowned reader] in
                while let block = reader.take() {
                    largest = max(largest, block.count)
                    block.withUnsafeBytes { bytes.append(contentsOf: $0) }
                    reader.recycle(block)
                }
            }
            reader.onEnd = { [unowned self] in
                outcome = .success($0)
                loop.stop()
            }
            reader.onFailed = { [unowned self] in
                outcome = .failure($0)
                loop.stop()
            }
        }
    }

    private func read(_ file: PassedFile, length: Int64?) throws -> Sink {
        let reader = try FileReader(file, length: length, on: loop, blockSize: Self.blockSize)
        let sink = Sink()
        sink.attach(to: reader, loop: loop)
        try loop.runUntilStopped()
        withExtendedLifetime(reader) {}
        return sink
    }

    @Test(arguments: FileForm.allCases, sizes)
    func `all bytes arrive in order`(_ form: FileForm, _ size: Int) throws {
        let ends = try FileEnds(form)
        let bytes = pattern(size)
        let writer = try writeElsewhere(bytes, to: ends.writing)
        // A file has no writer's end to wait for, so write it before.
        if form == .file { writer.join() }
        let sink = try read(ends.reading, length: nil)
        #expect(sink.bytes == bytes)
        #expect(sink.outcome == .success(Int64(size)))
        #expect(sink.largest <= Self.blockSize)
        #expect(ends.reading.raw == nil)
        writer.join()
    }

    @Test(arguments: FileForm.allCases, sizes)
    func `no more than the length is read`(_ form: FileForm, _ length: Int) throws {
        let ends = try FileEnds(form)
        let bytes = pattern(length + 10)
        let descriptor = try #require(ends.reading.raw)
        let kept = dup(descriptor)
        let writer = try writeElsewhere(bytes, to: ends.writing)
        if form == .file { writer.join() }
        let sink = try read(ends.reading, length: Int64(length))
        #expect(sink.bytes == Array(bytes.prefix(length)))
        #expect(sink.outcome == .success(Int64(length)))
        // The rest is still available to the process that passed it.
        let rest = try readElsewhere(PassedFile(Descriptor(owning: kept)))
        rest.thread.join()
        #expect(rest.bytes.withLock { $0 } == Array(bytes.suffix(10)))
        writer.join()
    }

    @Test(arguments: FileForm.allCases)
    func `the count reveals an early end`(_ form: FileForm) throws {
        let ends = try FileEnds(form)
        let writer = try writeElsewhere(pattern(100_000), to: ends.writing)
        if form == .file { writer.join() }
        let sink = try read(ends.reading, length: 100_001)
        #expect(sink.bytes == pattern(100_000))
        #expect(sink.outcome == .success(100_000))
        writer.join()
    }

    @Test func `a file is read from its offset`() throws {
        let ends = try FileEnds(.file)
        try writeElsewhere(pattern(1_000), to: ends.writing).join()
        lseek(try #require(ends.reading.raw), 400, SEEK_SET)
        let sink = try read(ends.reading, length: nil)
        #expect(sink.bytes == Array(pattern(1_000).dropFirst(400)))
    }

    @Test func `at most two blocks are read ahead`() throws {
        let ends = try FileEnds(.file)
        try writeElsewhere(pattern(10 * Self.blockSize), to: ends.writing).join()
        let kept = dup(try #require(ends.reading.raw))
        let reader = try FileReader(ends.reading, length: nil, on: loop, blockSize: Self.blockSize)
        var taken: [FileBlock] = []
        reader.onBlock = { [loop] in
            while let block = reader.take() { taken.append(block) }
            if taken.count == 2 { loop.stop() }
        }
        try loop.runUntilStopped()
        // The thread has no block to read into until one is returned.
        #expect(lseek(kept, 0, SEEK_CUR) == 2 * Self.blockSize)
        #expect(reader.take() == nil)
        reader.recycle(taken.removeFirst())
        try loop.runUntilStopped()
        #expect(lseek(kept, 0, SEEK_CUR) == 3 * Self.blockSize)
        reader.cancel()
        close(kept)
    }

    @Test(arguments: [FileForm.pipe, .namedPipe, .socket])
    func `cancelling ends a wait for bytes and closes the file`(_ form: FileForm) throws {
        let ends = try FileEnds(form)
        let reader = try FileReader(ends.reading, length: nil, on: loop, blockSize: Self.blockSize)
        reader.onBlock = { Issue.record("a block") }
        reader.onEnd = { _ in Issue.record("an end") }
        reader.onFailed = { _ in Issue.record("a failure") }
        reader.cancel()
        #expect(reader.take() == nil)
        try expectNoReader(ends)
        try loop.runTurns(3)
    }

    @Test func `a released reader ends`() throws {
        let ends = try FileEnds(.pipe)
        do { _ = try FileReader(ends.reading, length: nil, on: loop) }
        try expectNoReader(ends)
    }

    /// Waits until the pipe or socket has no reader.
    private func expectNoReader(_ ends: FileEnds) throws {
        var watched = pollfd(fd: try #require(ends.writing.raw), events: 0, revents: 0)
        #expect(poll(&watched, 1, 120_000) == 1)
        #expect(watched.revents & Int16(POLLERR | POLLHUP) != 0)
    }

    @Test func `the flags of the shared open file are not changed`() throws {
        let ends = try FileEnds(.pipe)
        let kept = dup(try #require(ends.reading.raw))
        let writer = try writeElsewhere([1], to: ends.writing)
        #expect(try read(ends.reading, length: nil).bytes == [1])
        #expect(fcntl(kept, F_GETFL) & O_NONBLOCK == 0)
        close(kept)
        writer.join()
    }

    @Test func `a failure is reported and the file is closed`() throws {
        let folder = try ScratchFolder()
        let ends = try FileEnds(.file)
        let sink = try read(FileEnds.open(folder.path, O_RDONLY | O_DIRECTORY), length: nil)
        #expect(sink.outcome == .failure(Errno(rawValue: EISDIR)))
        #expect(try read(ends.writing, length: nil).outcome == .failure(.badDescriptor))
        #expect(throws: Errno.badDescriptor) { try FileReader(ends.writing, length: nil, on: loop) }
    }

    @Test func `the end is reported after a late take of the last block`() throws {
        let ends = try FileEnds(.file)
        try writeElsewhere([1, 2, 3], to: ends.writing).join()
        let reader = try FileReader(ends.reading, length: 3, on: loop)
        var total: Int64?
        var calls = 0
        reader.onBlock = { calls += 1 }
        reader.onEnd = { [loop] in
            total = $0
            loop.stop()
        }
        while calls == 0 { try loop.runTurns(1) }
        try loop.runTurns(20)
        #expect(total == nil, "not before the last block was taken")
        let block = try #require(reader.take())
        #expect(total == nil, "no handler is called from inside take")
        try loop.runUntilStopped()
        #expect(total == 3)
        #expect(block.count == 3)
    }

    @Test func `threads above the limit are refused`() async {
        // In a separate process, because the limit is process-wide.
        await #expect(processExitsWith: .success) {
            let loop = try EventLoop()
            var readers: [FileReader] = []
            var kept: [FileEnds] = []
            func isRefused(_ ends: FileEnds) -> Bool {
                do throws(Errno) {
                    _ = try FileReader(ends.reading, length: nil, on: loop)
                    return false
                } catch {
                    return error == .wouldBlock && ends.reading.raw != nil
                }
            }
            // One source may use half of them.
            for app in ["first", "second"].map(DescriptorSource.init) {
                for _ in 0..<32 {
                    let ends = try FileEnds(.pipe, from: app)
                    readers.append(try FileReader(ends.reading, length: nil, on: loop))
                    kept.append(ends)
                }
                guard isRefused(try FileEnds(.pipe, from: app)) else { exit(1) }
            }
            let ends = try FileEnds(.pipe)
            guard isRefused(ends) else { exit(2) }
            let last = readers.removeLast()
            last.onEnd = { _ in loop.stop() }
            kept.removeLast().writing.take()?.close()
            try loop.run()
            // Its slot is free by the time its end is reported.
            _ = try FileReader(ends.reading, length: nil, on: loop)
            exit(0)
        }
    }
}

struct PassedFileCheckTests {
    private func error(_ file: PassedFile, _ use: PassedFile.Use) -> PassedFileError? {
        do throws(PassedFileError) {
            try file.check(for: use)
            return nil
        } catch {
            return error
        }
    }

    @Test func `files pipes and stream sockets are accepted`() throws {
        for form in FileForm.allCases {
            let ends = try FileEnds(form)
            #expect(error(ends.reading, .reading) == nil)
            #expect(error(ends.writing, .writing) == nil)
            guard form != .socket else { continue }
            #expect(error(ends.reading, .writing) == .notWritable)
            #expect(error(ends.writing, .reading) == .notReadable)
        }
        let folder = try ScratchFolder()
        let both = try FileEnds.open("\(folder.path)/both", O_RDWR | O_CREAT)
        #expect(error(both, .reading) == nil)
        #expect(error(both, .writing) == nil)
    }

    @Test func `other descriptors are rejected`() throws {
        let folder = try ScratchFolder()
        #expect(error(try FileEnds.open(folder.path, O_RDONLY), .reading) == .unsuitable)
        #expect(error(try FileEnds.open("/dev/full", O_RDWR), .writing) == .unsuitable)
        #expect(error(try FileEnds.open("/dev/null", O_RDWR), .reading) == .unsuitable)
        let datagrams = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
        #expect(error(PassedFile(Descriptor(owning: datagrams)), .reading) == .unsuitable)
        // O_PATH, which Swift's Glibc module does not export.
        let path = try FileEnds.open("/etc/passwd", 0o10_000_000)
        #expect(error(path, .reading) == .notReadable)
        #expect(error(path, .writing) == .notWritable)
        let taken = try FileEnds.open("/etc/passwd", O_RDONLY)
        taken.take()?.close()
        #expect(error(taken, .reading) == .system(.badDescriptor))
    }
}
