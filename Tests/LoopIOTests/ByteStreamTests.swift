import CLinux
import Glibc
import HandoffTestSupport
import LoopIO
import Testing

@Suite(.timeLimit(.minutes(5))) struct ByteStreamTests {
    private let loop: EventLoop

    init() throws {
        loop = try EventLoop()
    }

    /// The bytes and events that a stream's handlers received, in order.
    private final class Record {
        var bytes: [UInt8] = []
        var events: [String] = []

        func attach(to stream: ByteStream, stopAtEnd loop: EventLoop? = nil) {
            stream.onRead = { [unowned self] in bytes += $0 }
            stream.onEnd = { [unowned self] in
                events.append("end")
                loop?.stop()
            }
            stream.onError = { [unowned self] error in
                events.append("error \(error.rawValue)")
                loop?.stop()
            }
            stream.onDrained = { [unowned self] in events.append("drained") }
        }
    }

    @Test(arguments: [1, 3_072, 65_536, 65_537, 5_000_000])
    func `bytes arrive in order followed by the end`(_ size: Int) throws {
        let ends = try Ends.sockets()
        let sender = try ByteStream(ends.takeFirst(), on: loop)
        let receiver = try ByteStream(ends.takeSecond(), on: loop)
        let record = Record()
        record.attach(to: receiver, stopAtEnd: loop)
        let bytes = pattern(size)
        var rest = bytes[...]
        while !rest.isEmpty {
            sender.write(Array(rest.prefix(100_000)))
            rest = rest.dropFirst(100_000)
        }
        sender.shutdownWrite()
        try loop.runUntilStopped()
        #expect(record.bytes == bytes)
        #expect(record.events == ["end"])
        #expect(receiver.isOpen)
        #expect(sender.pendingWriteBytes == 0)
        sender.close()
        receiver.close()
    }

    @Test func `a write to an empty queue is sent immediately`() throws {
        let ends = try Ends.sockets()
        let stream = try ByteStream(ends.takeFirst(), on: loop)
        stream.write([1, 2, 3])
        #expect(readNow(ends.second) == [1, 2, 3])
        #expect(stream.pendingWriteBytes == 0)
        stream.close()
    }

    @Test func `a writer that writes and closes delivers its bytes and the end`() throws {
        for make in [Ends.sockets, Ends.pipe] {
            let ends = try make()
            let stream = try ByteStream(ends.takeFirst(), on: loop)
            let record = Record()
            record.attach(to: stream, stopAtEnd: loop)
            writeNow(pattern(50_000), to: ends.second)
            ends.closeSecond()
            try loop.runUntilStopped()
            #expect(record.bytes == pattern(50_000))
            #expect(record.events == ["end"])
            stream.close()
        }
    }

    @Test func `finish delivers queued bytes and the end after the owner releases the stream`() throws {
        let ends = try Ends.sockets()
        let receiver = try ByteStream(ends.takeSecond(), on: loop)
        receiver.pauseReading()
        let bytes = pattern(3_000_000)
        weak var released: ByteStream?
        do {
            let sender = try ByteStream(ends.takeFirst(), on: loop)
            released = sender
            sender.write(bytes)
            #expect(sender.pendingWriteBytes > 0)
            // The deadline is the subject of another test.
            sender.finish(within: .seconds(120))
        }
        #expect(released != nil)
        let record = Record()
        record.attach(to: receiver)
        receiver.onEnd = { [loop] in
            receiver.close()
            loop.perform { loop.perform { loop.perform { loop.stop() } } }
        }
        receiver.resumeReading()
        try loop.runUntilStopped()
        #expect(record.bytes == bytes)
        #expect(released == nil)
    }

    @Test func `finish waits for the peer until its deadline`() throws {
        let clock = ManualClock()
        let loop = try EventLoop(clock: clock)
        let ends = try Ends.sockets()
        let stream = try ByteStream(ends.takeFirst(), on: loop)
        stream.finish(within: .seconds(5))
        writeNow([1, 2, 3], to: ends.second)
        clock.advance(by: .seconds(4))
        try loop.runTurns(5)
        #expect(stream.isOpen)
        clock.advance(by: .seconds(1))
        try loop.runTurns(5)
        #expect(!stream.isOpen)
        #expect(readNow(ends.second) == nil)
    }

    @Test func `finish over TCP does not destroy bytes that the peer has not read`() throws {
        let port = try BoundPort(port: 0, address: .loopbackIPv4)
        let socket = plainSocket(toPort: port.port, isBlocking: true)
        let client = socket.raw
        let accepted = acceptNow(port.tcp.raw)
        try #require(accepted >= 0)
        let server = try ByteStream(Descriptor(owning: accepted), on: loop)
        // Unread bytes at close(2) make TCP send a reset.
        writeNow(pattern(1_000), to: client)
        server.write(pattern(100_000))
        server.finish(within: .seconds(120))
        try loop.runTurns(20)
        var received: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(client, &buffer, buffer.count, 0)
            guard count > 0 else {
                #expect(count == 0)
                break
            }
            received += buffer[..<count]
            try loop.runTurns(5)
        }
        #expect(received == pattern(100_000))
        shutdown(client, Int32(SHUT_WR))
        try loop.runTurns(20)
        #expect(!server.isOpen)
    }

    @Test func `after the peer's end writing still works`() throws {
        let ends = try Ends.sockets()
        let stream = try ByteStream(ends.takeFirst(), on: loop)
        let record = Record()
        record.attach(to: stream, stopAtEnd: loop)
        shutdown(ends.second, Int32(SHUT_WR))
        try loop.runUntilStopped()
        #expect(record.events == ["end"])
        stream.write([1, 2, 3])
        #expect(readNow(ends.second) == [1, 2, 3])
        stream.shutdownWrite()
        #expect(readNow(ends.second) == nil)
        stream.close()
    }

    @Test func `after its own end a stream still reads`() throws {
        let ends = try Ends.sockets()
        let stream = try ByteStream(ends.takeFirst(), on: loop)
        let record = Record()
        record.attach(to: stream, stopAtEnd: loop)
        stream.shutdownWrite()
        stream.write([9])
        #expect(readNow(ends.second) == nil)
        writeNow([4, 5], to: ends.second)
        ends.closeSecond()
        try loop.runUntilStopped()
        #expect(record.bytes == [4, 5])
        #expect(record.events == ["end"])
        stream.close()
    }

    @Test func `marks control when the writer pauses and resumes`() throws {
        let ends = try Ends.sockets()
        let marks = ByteStream.Marks(low: 10_000, high: 50_000)
        let sender = try ByteStream(ends.takeFirst(), on: loop, marks: marks)
        let receiver = try ByteStream(ends.takeSecond(), on: loop)
        receiver.pauseReading()
        let chunk = pattern(10_000)
        var written = 0
        repeat { written += chunk.count } while sender.write(chunk)
        #expect(sender.pendingWriteBytes > marks.high)
        #expect(sender.pendingWriteBytes <= marks.high + chunk.count)
        // Between the marks the writer must still pause.
        #expect(!sender.write([]))
        let record = Record()
        record.attach(to: receiver)
        var pendingAtDrained: Int?
        sender.onDrained = { [loop] in
            pendingAtDrained = sender.pendingWriteBytes
            loop.stop()
        }
        receiver.resumeReading()
        try loop.runUntilStopped()
        #expect(try #require(pendingAtDrained) <= marks.low)
        #expect(sender.write([1]))
        sender.onDrained = nil
        sender.close()
        receiver.close()
    }

    @Test func `the writer resumes at the low mark and not before`() throws {
        let ends = try Ends.sockets()
        // A small buffer, so that the queue empties in small steps.
        clinux_set_option(ends.first, Int32(CLINUX_SEND_BUFFER.rawValue), 4096)
        let sender = try ByteStream(ends.takeFirst(), on: loop, marks: .init(low: 1_000, high: 50_000))
        sender.write(pattern(100_000))
        var pendingAtDrained: [Int] = []
        sender.onDrained = { pendingAtDrained.append(sender.pendingWriteBytes) }
        var seen: [Int] = []
        var buffer = [UInt8](repeating: 0, count: 512)
        var received = 0
        while received < 100_000 {
            received += max(0, read(ends.second, &buffer, buffer.count))
            try loop.runTurns(2)
            if pendingAtDrained.isEmpty { seen.append(sender.pendingWriteBytes) }
        }
        // The queue was between the marks without a call, and then there was one call.
        #expect(seen.contains { (1_001...50_000).contains($0) })
        #expect(pendingAtDrained.count == 1)
        #expect(try #require(pendingAtDrained.first) <= 1_000)
        sender.onDrained = nil
        sender.close()
    }

    @Test func `one turn reads until nothing is left`() throws {
        let ends = try Ends.sockets()
        clinux_set_option(ends.second, Int32(CLINUX_SEND_BUFFER.rawValue), 4 << 20)
        let stream = try ByteStream(ends.takeFirst(), on: loop)
        var turns: Set<UInt64> = []
        var received = 0
        // Exceeds the size of one read, but not the limit of one turn.
        let bytes = pattern(400_000)
        stream.onRead = { [loop] in
            turns.insert(loop.turns)
            received += $0.count
            if received == bytes.count { loop.stop() }
        }
        var written = 0
        while written < bytes.count {
            let rest = bytes[written...]
            written += max(0, rest.withUnsafeBytes { write(ends.second, $0.baseAddress, $0.count) })
        }
        try loop.runUntilStopped()
        #expect(turns.count == 1)
        stream.close()
    }

    @Test func `while paused nothing is read and a hang up does not spin`() throws {
        let ends = try Ends.sockets()
        let stream = try ByteStream(ends.takeFirst(), on: loop)
        let record = Record()
        record.attach(to: stream, stopAtEnd: loop)
        stream.pauseReading()
        writeNow([1, 2, 3], to: ends.second)
        ends.closeSecond()
        try loop.runTurns(20)
        #expect(record.bytes == [])
        #expect(record.events == [])
        stream.resumeReading()
        try loop.runUntilStopped()
        #expect(record.bytes == [1, 2, 3])
        #expect(record.events == ["end"])
        stream.close()
    }

    enum Quiet: CaseIterable, Sendable {
        case pausedAndHungUp
        case ended
        case endedAndShut
        case withoutReader
        case pausedWithBytes
        case waitingToWrite
    }

    @Test(arguments: Quiet.allCases)
    func `a waiting stream does not spin`(_ quiet: Quiet) throws {
        let ends = try Ends.sockets()
        let stream = try ByteStream(ends.takeFirst(), on: loop)
        let record = Record()
        if quiet != .withoutReader { record.attach(to: stream) }
        switch quiet {
        case .pausedAndHungUp:
            stream.pauseReading()
            ends.closeSecond()
        case .ended:
            shutdown(ends.second, Int32(SHUT_WR))
        case .endedAndShut:
            stream.shutdownWrite()
            ends.closeSecond()
        case .withoutReader:
            ends.closeSecond()
        case .pausedWithBytes:
            stream.pauseReading()
            writeNow([1], to: ends.second)
        case .waitingToWrite:
            stream.pauseReading()
            writeNow([1], to: ends.second)
            stream.write(pattern(1_000_000))
            #expect(stream.pendingWriteBytes > 0)
        }
        try loop.runTurns(10)
        // A descriptor that epoll reports repeatedly would end each wait.
        let timer = loop.timer(after: .milliseconds(50)) { [loop] in loop.stop() }
        let before = loop.turns
        try loop.run()
        #expect(loop.turns - before < 5)
        #expect(stream.isOpen)
        timer.cancel()
        stream.close()
    }

    @Test func `a failed write is reported after the received bytes`() throws {
        let ends = try Ends.sockets()
        let stream = try ByteStream(ends.takeFirst(), on: loop)
        let record = Record()
        record.attach(to: stream, stopAtEnd: loop)
        writeNow([1, 2, 3], to: ends.second)
        ends.closeSecond()
        stream.write([9])
        #expect(record.events == [])
        #expect(stream.isOpen)
        try loop.runUntilStopped()
        #expect(record.bytes == [1, 2, 3])
        #expect(record.events == ["error \(EPIPE)"])
        #expect(!stream.isOpen)
    }

    @Test func `a failed write while paused waits for the reader`() throws {
        let ends = try Ends.sockets()
        let stream = try ByteStream(ends.takeFirst(), on: loop)
        let record = Record()
        record.attach(to: stream, stopAtEnd: loop)
        stream.pauseReading()
        writeNow([1, 2, 3], to: ends.second)
        ends.closeSecond()
        stream.write([9])
        try loop.runTurns(20)
        #expect(record.events == [])
        stream.resumeReading()
        try loop.runUntilStopped()
        #expect(record.bytes == [1, 2, 3])
        #expect(record.events == ["error \(EPIPE)"])
    }

    @Test func `a writer without a reader learns of a failure`() throws {
        for make in [Ends.sockets, Ends.pipe] {
            let ends = try make()
            let stream = try ByteStream(ends.takeSecond(), on: loop)
            var error: Errno?
            stream.onError = { [loop] in
                error = $0
                loop.stop()
            }
            // Exceeds the kernel's buffer, so that the queue receives the error.
            stream.write(pattern(1_000_000))
            #expect(stream.pendingWriteBytes > 0)
            ends.closeFirst()
            try loop.runUntilStopped()
            #expect(error == .brokenPipe || error == .connectionReset)
            #expect(!stream.isOpen)
        }
    }

    @Test func `a reset is an error`() throws {
        let port = try BoundPort(port: 0, address: .loopbackIPv4)
        let listener = port.tcp.raw
        var outcome: Errno?
        var stream: ByteStream?
        let connecting = TCP.connect(to: SocketAddress(.loopbackIPv4, port: port.port), on: loop) { [loop] result in
            do {
                let made = try ByteStream(result.get(), on: loop)
                made.onRead = { _ in }
                made.onError = {
                    outcome = $0
                    loop.stop()
                }
                stream = made
                let accepted = acceptNow(listener)
                // Closing with no time to linger sends a reset.
                var linger = linger(l_onoff: 1, l_linger: 0)
                setsockopt(accepted, SOL_SOCKET, SO_LINGER, &linger, 8)
                close(accepted)
            } catch {
                Issue.record(error)
            }
        }
        try loop.runUntilStopped()
        #expect(outcome == .connectionReset)
        #expect(stream?.isOpen == false)
        connecting.cancel()
    }

    @Test func `one busy stream does not starve others`() throws {
        let busy = try Ends.sockets()
        let quiet = try Ends.sockets()
        clinux_set_option(busy.second, Int32(CLINUX_SEND_BUFFER.rawValue), 4 << 20)
        let source = try ByteStream(busy.takeSecond(), on: loop)
        let sink = try ByteStream(busy.takeFirst(), on: loop)
        let other = try ByteStream(quiet.takeFirst(), on: loop)
        var received = 0
        // Endless: bytes that are read are written again.
        sink.onRead = { bytes in
            received += bytes.count
            source.write(bytes)
        }
        source.write(pattern(2_000_000))
        other.onRead = { [loop] _ in loop.stop() }
        writeNow([1], to: quiet.second)
        try loop.runUntilStopped()
        #expect(received <= 4 << 20)
        sink.close()
        source.close()
        other.close()
    }

    @Test func `closing in a handler ends everything`() throws {
        let ends = try Ends.sockets()
        let stream = try ByteStream(ends.takeFirst(), on: loop)
        var calls = 0
        stream.onRead = { _ in
            calls += 1
            stream.close()
        }
        stream.onEnd = { calls += 1 }
        writeNow(pattern(100_000), to: ends.second)
        ends.closeSecond()
        try loop.runTurns(20)
        #expect(calls == 1)
        #expect(!stream.isOpen)
        stream.write([1])
        stream.shutdownWrite()
        stream.finish()
    }

    @Test func `pausing in a handler takes effect immediately`() throws {
        let ends = try Ends.sockets()
        clinux_set_option(ends.second, Int32(CLINUX_SEND_BUFFER.rawValue), 4 << 20)
        let stream = try ByteStream(ends.takeFirst(), on: loop)
        var calls = 0
        stream.onRead = { _ in
            calls += 1
            stream.pauseReading()
        }
        writeNow(pattern(300_000), to: ends.second)
        try loop.runTurns(20)
        #expect(calls == 1)
        stream.onRead = nil
        stream.close()
    }

    @Test func `a released stream closes its descriptor`() throws {
        let ends = try Ends.sockets()
        do {
            let stream = try ByteStream(ends.takeFirst(), on: loop)
            stream.onRead = { _ in Issue.record("read after the end") }
        }
        #expect(readNow(ends.second) == nil)
        try loop.runTurns(5)
    }

    @Test func `a pipe's end is sent by closing it`() throws {
        let ends = try Ends.pipe()
        let stream = try ByteStream(ends.takeSecond(), on: loop)
        stream.write([1, 2])
        stream.shutdownWrite()
        #expect(!stream.isOpen)
        #expect(readNow(ends.first) == [1, 2])
        #expect(readNow(ends.first) == nil)
    }
}
