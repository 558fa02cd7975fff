import Glibc
import HandoffControl
import HandoffControlServer
import HandoffJSON
import HandoffLog
import HandoffTestSupport
import LoopIO
import Testing

/// A control server on a loop that the test turns by hand, with a handler that keeps the calls it gets.
final class ControlFixture {
    let clock = ManualClock()
    let loop: EventLoop
    let sink = MemorySink()
    /// The calls that came.
    var calls: [ControlCall] { desk.calls }
    /// Serves a call right when it comes; otherwise it is kept.
    var serve: ((ControlCall) -> Void)? {
        get { desk.serve }
        set { desk.serve = newValue }
    }
    /// With whom those count that connect from now on; nil: with their process.
    var group: ClientGroup? {
        get { desk.group }
        set { desk.group = newValue }
    }
    let server: ControlServer
    /// Calls as they come; its own object, since the server is made before the fixture is whole.
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

    /// Lets the loop handle whatever is there, without waiting.
    func turn() throws {
        try loop.runTurns(60)
    }

    /// Moves the clock and lets the loop handle what is due.
    func pass(_ time: Duration) throws {
        clock.advance(by: time)
        try turn()
    }

    /// A client that is connected and accepted.
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

/// The client's end of a control connection, a bare descriptor that is read and written by hand.
final class ControlTestClient {
    private unowned let fixture: ControlFixture
    private var own: Descriptor?
    private var servers: Descriptor?
    private let raw: Int32
    private var buffered: [UInt8] = []
    /// Whether the server has closed its side.
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

    /// Sends bytes as far as the kernel takes them, and lets the server see them.
    func send(_ bytes: [UInt8]) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.send(raw, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            if count < 0 { break }
            rest = rest.dropFirst(count)
            try fixture.turn()
        }
    }

    /// Sends calls in one piece.
    func call(_ calls: VarlinkCall...) throws {
        try send(calls.flatMap { $0.encoded() })
    }

    /// Everything that came and was not taken yet.
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

    /// The replies that came; bytes that are no whole replies throw.
    func replies() throws -> [VarlinkReply] {
        let parts = try receive().split(separator: 0, omittingEmptySubsequences: true)
        var replies: [VarlinkReply] = []
        for part in parts { replies.append(try VarlinkReply(decoding: Array(part))) }
        return replies
    }

    /// Shuts down the side that writes.
    func halfClose() throws {
        shutdown(raw, Int32(SHUT_WR))
        try fixture.turn()
    }

    /// Is gone.
    func close() throws {
        own = nil
        try fixture.turn()
    }
}
