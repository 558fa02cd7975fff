import Glibc
import HandoffControl
import HandoffDaemon
import HandoffJSON
import HandoffTestSupport
import LoopIO
import Testing

/// A control server on a loop that the test runs step by step. It records the received calls.
final class ControlFixture {
    let clock = ManualClock()
    let loop: EventLoop
    let sink = MemorySink()
    /// The received calls.
    var calls: [ControlCall] { desk.calls }
    /// Serves a call immediately. Without it, calls are only recorded.
    var serve: ((ControlCall) -> Void)? {
        get { desk.serve }
        set { desk.serve = newValue }
    }
    /// The group of clients that connect from now on. Nil: the group of their process.
    var group: ClientGroup? {
        get { desk.group }
        set { desk.group = newValue }
    }
    let server: ControlServer
    /// Records calls. A separate object, because the server is created before the fixture is
    /// complete.
    private let desk = Desk()

    init(limits: ControlLimits = ControlLimits(), userID: UInt32 = geteuid()) throws {
        loop = try EventLoop(clock: clock)
        server = ControlServer(
            loop: loop, version: "1.2.3", userID: userID, limits: limits,
            log: Logger(subsystem: "control", sink: sink, level: .debug),
            group: { [desk] in desk.group ?? .process($0) },
            onCall: { [desk] call in
                desk.calls.append(call)
                desk.serve?(call)
            })
    }

    /// Lets the loop handle all pending events without waiting.
    func turn() throws {
        try loop.runTurns(60)
    }

    /// Advances the clock and lets the loop handle due events.
    func pass(_ time: Duration) throws {
        clock.advance(by: time)
        try turn()
    }

    /// A connected and accepted client.
    func connect(_ role: ControlRole = .control) throws -> ControlTestClient {
        let client = try ControlTestClient(self)
        server.accept(try client.takeServerEnd(), role: role)
        return client
    }
}

private final class Desk {
    var calls: [ControlCall] = []
    var serve: ((ControlCall) -> Void)?
    var group: ClientGroup?
}

/// The client's end of a control connection: a descriptor that tests read and write directly.
final class ControlTestClient {
    private unowned let fixture: ControlFixture
    private var own: Descriptor?
    private var servers: Descriptor?
    private let raw: Int32
    private var buffered: [UInt8] = []
    /// True if the server has closed its side.
    private(set) var hasEnded = false

    fileprivate init(_ fixture: ControlFixture) throws {
        let pair = try Descriptor.socketPair()
        self.fixture = fixture
        raw = pair.first.raw
        own = consume pair.first
        servers = consume pair.second
    }

    fileprivate func takeServerEnd() throws -> Descriptor {
        guard let taken = servers.take() else { throw Errno.invalidArgument }
        return taken
    }

    /// Sends bytes as far as the kernel accepts them, and lets the server read them.
    func send(_ bytes: [UInt8]) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.send(raw, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            if count < 0 { break }
            rest = rest.dropFirst(count)
            try fixture.turn()
        }
    }

    /// Sends calls in one write.
    func call(_ calls: VarlinkCall...) throws {
        try send(calls.flatMap { $0.encoded() })
    }

    /// All bytes received since the last call.
    func receive() throws -> [UInt8] {
        try fixture.turn()
        var scratch = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = read(raw, &scratch, scratch.count)
            if count < 0 { break }
            if count == 0 {
                hasEnded = true
                break
            }
            buffered += scratch[..<count]
            try fixture.turn()
        }
        defer { buffered = [] }
        return buffered
    }

    /// The received replies. Throws if the bytes are not whole replies.
    func replies() throws -> [VarlinkReply] {
        let parts = try receive().split(separator: 0, omittingEmptySubsequences: true)
        var replies: [VarlinkReply] = []
        for part in parts { replies.append(try VarlinkReply(decoding: Array(part))) }
        return replies
    }

    /// Shuts down the writing side.
    func halfClose() throws {
        shutdown(raw, Int32(SHUT_WR))
        try fixture.turn()
    }

    /// Closes the connection.
    func close() throws {
        own = nil
        try fixture.turn()
    }
}
