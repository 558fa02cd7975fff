import Glibc
import HandoffTestSupport
import LoopIO
import Testing

@Suite(.timeLimit(.minutes(5))) struct ConnectingTests {
    private let loop: EventLoop

    init() throws {
        loop = try EventLoop()
    }

    @Test(arguments: loopbacks)
    func `connects and configures the socket`(_ address: IPAddress) throws {
        let port = try BoundPort(port: 0)
        let number = port.port
        let listener = try Listener(adopting: port.tcp, on: loop)
        var peer: SocketAddress?
        var options: [Int32] = []
        var isCalled = false
        listener.onAccept = { [loop] descriptor, address in
            peer = address
            writeNow([1, 2, 3], to: descriptor.raw)
            if isCalled { loop.stop() }
        }
        let connecting = TCP.connect(to: SocketAddress(address, port: number), on: loop) { [loop] result in
            isCalled = true
            do {
                let descriptor = try result.get()
                options = keepAliveOptions(of: descriptor.raw)
                #expect(try SocketAddress.peer(of: descriptor.raw) == SocketAddress(address, port: number))
                #expect(fcntl(descriptor.raw, F_GETFL) & O_NONBLOCK != 0)
                #expect(fcntl(descriptor.raw, F_GETFD) & FD_CLOEXEC != 0)
            } catch {
                Issue.record(error)
            }
            if peer != nil { loop.stop() }
        }
        #expect(!isCalled)
        try loop.runUntilStopped()
        #expect(options == [1, 1, 30, 10, 3])
        // An IPv4 peer of a dual-stack socket appears with its IPv4 address.
        #expect(peer?.address == address)
        connecting.cancel()
        listener.close()
    }

    @Test func `accepted connections have the options of their listening socket`() throws {
        let port = try BoundPort(port: 0)
        let target = SocketAddress(.loopbackIPv4, port: port.port)
        try TCP.configure(port.tcp.raw)
        let listener = try Listener(adopting: port.tcp, on: loop)
        var options: [Int32] = []
        listener.onAccept = { [loop] descriptor, _ in
            options = keepAliveOptions(of: descriptor.raw)
            loop.stop()
        }
        let connecting = TCP.connect(to: target, on: loop) { _ in }
        try loop.runUntilStopped()
        #expect(options == [1, 1, 30, 10, 3])
        connecting.cancel()
        listener.close()
    }

    @Test func `a refused connection is an error`() throws {
        let port = try ClosedPort()
        var error: Errno?
        let connecting = TCP.connect(to: port.address, on: loop) { [loop] result in
            if case .failure(let failure) = result { error = failure }
            loop.stop()
        }
        try loop.runUntilStopped()
        #expect(error == .connectionRefused)
        connecting.cancel()
        withExtendedLifetime(port) {}
    }

    @Test func `an impossible address is reported later`() throws {
        var error: Errno?
        // A link-local address without its interface.
        let address = try #require(SocketAddress(text: "[fe80::1]:9"))
        let connecting = TCP.connect(to: address, on: loop) { [loop] result in
            if case .failure(let failure) = result { error = failure }
            loop.stop()
        }
        #expect(error == nil)
        try loop.runUntilStopped()
        #expect(error == .invalidArgument)
        connecting.cancel()
    }

    @Test func `a timeout ends the attempt`() throws {
        let clock = ManualClock()
        let loop = try EventLoop(clock: clock)
        var error: Errno?
        var calls = 0
        // A queue with a backlog of one is full. The kernel then drops further requests, like an
        // unreachable host.
        let port = try BoundPort(port: 0, address: .loopbackIPv4)
        listen(port.tcp.raw, 0)
        let first = plainSocket(toPort: port.port, isBlocking: true)
        let second = plainSocket(toPort: port.port, isBlocking: false)
        let connecting = TCP.connect(
            to: SocketAddress(.loopbackIPv4, port: port.port), on: loop, timeout: .seconds(3)
        ) { result in
            calls += 1
            if case .failure(let failure) = result { error = failure }
        }
        try loop.runTurns(20)
        #expect(calls == 0)
        clock.advance(by: .seconds(3))
        try loop.runTurns(5)
        #expect(error == .timedOut)
        #expect(calls == 1)
        connecting.cancel()
        first.close()
        second.close()
    }

    @Test func `a cancelled or released attempt does not call its completion`() throws {
        let port = try BoundPort(port: 0)
        let address = SocketAddress(.loopbackIPv4, port: port.port)
        var calls = 0
        let cancelled = TCP.connect(to: address, on: loop) { _ in calls += 1 }
        cancelled.cancel()
        cancelled.cancel()
        do {
            let dropped = TCP.connect(to: address, on: loop) { _ in calls += 1 }
            _ = dropped
        }
        try loop.runTurns(20)
        #expect(calls == 0)
    }
}

/// Returns TCP_NODELAY, keep-alive, and its idle time, interval and count, as `TCP.configure` sets
/// them.
private func keepAliveOptions(of descriptor: Int32) -> [Int32] {
    [
        (Int32(IPPROTO_TCP), TCP_NODELAY), (SOL_SOCKET, SO_KEEPALIVE), (Int32(IPPROTO_TCP), TCP_KEEPIDLE),
        (Int32(IPPROTO_TCP), TCP_KEEPINTVL), (Int32(IPPROTO_TCP), TCP_KEEPCNT),
    ].map { level, name in
        var value: Int32 = -1
        var size = socklen_t(4)
        getsockopt(descriptor, level, name, &value, &size)
        return value
    }
}
