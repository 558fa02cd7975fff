import Dispatch
import Glibc
import HandoffCrypto
import HandoffStreams
import HandoffTestSupport
import LoopIO
import Testing

/// A stream on its own loop, whose clock is stopped. The test plays both the far side and the app.
final class StreamFixture {
    static let ticket = pattern(16, from: 7)

    let clock: ManualClock
    let streamLoop: StreamLoop
    let events = Mailbox<StreamHandle.Event>()
    let handle: StreamHandle
    let far: FarSide
    private(set) var app: RawSocket

    /// - Parameter isServer: true if this side accepted the connection.
    init(isServer: Bool = true, times: StreamTimes = StreamTimes(), bytesPerKey: UInt64? = nil) throws {
        try ProcessSignals.prepare(blocking: [])
        clock = ManualClock()
        streamLoop = try StreamLoop(name: "test stream", clock: clock)
        let (near, far) =
            try bytesPerKey.map { try FarSide.connected(nearIsServer: isServer, bytesPerKey: $0) }
            ?? FarSide.connected(nearIsServer: isServer)
        self.far = far
        let greeting: StreamHandle.Greeting = isServer ? .await : .show(ticket: Self.ticket)
        handle = StreamHandle(near, greeting: greeting, on: streamLoop, times: times) { [events] in
            // The number of these reports depends on timing.
            if $0 != .moved { events.put($0) }
        }
        app = try RawSocket.local().0
    }

    deinit {
        streamLoop.stop()
    }

    /// Creates an open stream.
    static func open(
        isServer: Bool = true, times: StreamTimes = StreamTimes(), bytesPerKey: UInt64? = nil
    ) throws -> StreamFixture {
        let fixture = try StreamFixture(isServer: isServer, times: times, bytesPerKey: bytesPerKey)
        if isServer {
            try fixture.far.send(ticket)
            #expect(try fixture.events.next() == .ticket(ticket))
            fixture.handle.accept()
        } else {
            #expect(try fixture.far.read(16) == ticket)
        }
        try fixture.attach()
        return fixture
    }

    /// Attaches an app, played by the test.
    func attach() throws {
        let (app, box) = try RawSocket.local()
        self.app = app
        handle.attach(HandedDescriptor(try box.take()))
    }

    /// Waits until the loop has performed pending work and then polled its descriptors.
    func settle(turns: Int = 3) {
        for _ in 0..<turns {
            let done = DispatchSemaphore(value: 0)
            streamLoop.perform { done.signal() }
            done.wait()
        }
    }

    /// Sends to the app, which reads nothing, until its buffers are full, and then some more.
    func stall() throws {
        var before = -1
        while app.unread > before {
            before = app.unread
            try far.send(data: pattern(50_000))
            settle(turns: 10)
        }
    }

    /// Makes the far side send data in frames of different sizes.
    func sendInFrames(_ bytes: [UInt8]) throws {
        var rest = bytes[...]
        var size = 1
        while !rest.isEmpty {
            let piece = Array(rest.prefix(size))
            try far.send(data: piece)
            rest = rest.dropFirst(piece.count)
            size = min(size * 7, 500_000)
        }
    }

    /// Makes the far side send frames of 100,000 bytes until no more are accepted.
    /// - Returns: the number of bytes in the frames, and the remaining bytes of the last one.
    func sendWhatIsTaken(_ bytes: [UInt8]) throws -> (sent: Int, wire: [UInt8]) {
        var wire = ArraySlice<UInt8>()
        var position = 0
        var idle = 0
        while idle < 200 {
            if wire.isEmpty, position < bytes.count {
                let piece = bytes[position..<min(position + 100_000, bytes.count)]
                try far.session.write(FarSide.frame(.data(piece.count), Array(piece)))
                wire = far.session.takeCiphertext()[...]
                position += piece.count
            }
            let count = wire.isEmpty ? 0 : try far.socket.writeSome(wire)
            wire = wire.dropFirst(count)
            settle()
            idle = count > 0 ? 0 : idle + 1
        }
        return (position, Array(wire))
    }

    /// The number of streams of the loop.
    var count: Int {
        let count = Locked(0)
        streamLoop.perform { [streamLoop] in count.withLock { $0 = streamLoop.count } }
        settle()
        return count.withLock { $0 }
    }

    /// Waits until the loop has released the stream.
    func awaitRelease(_ sourceLocation: SourceLocation = #_sourceLocation) throws {
        for _ in 0..<100_000 {
            if count == 0 { return }
            sched_yield()
        }
        Issue.record("the loop still has \(count) streams", sourceLocation: sourceLocation)
    }

    /// Returns the next event, which must be the end.
    func ended(_ sourceLocation: SourceLocation = #_sourceLocation) throws -> StreamReport {
        let event = try events.next(sourceLocation)
        guard case .ended(let report) = event else {
            Issue.record("got \(event)", sourceLocation: sourceLocation)
            throw Errno.invalidArgument
        }
        settle()
        #expect(events.waiting == [], "something follows the end", sourceLocation: sourceLocation)
        return report
    }

    /// Passes a file and returns its events.
    func pass(
        _ direction: FilePart.Direction, _ position: UInt64, _ length: Int64?, _ file: PassedFile
    ) -> Mailbox<FilePart.Event> {
        let events = Mailbox<FilePart.Event>()
        let part = FilePart(direction: direction, position: position, length: length, file: file)
        handle.pass(part) { events.put($0) }
        // Ensures that bytes sent after this go to the file. Otherwise the loop could poll its
        // sockets first.
        settle()
        return events
    }
}

extension StreamEnd {
    /// True if the connection broke.
    var isGone: Bool {
        if case .gone = self { true } else { false }
    }
}
