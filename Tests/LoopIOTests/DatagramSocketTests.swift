import Glibc
import HandoffTestSupport
import Testing

@testable import LoopIO

@Suite(.timeLimit(.minutes(5))) struct DatagramSocketTests {
    private struct Datagram: Equatable {
        let bytes: [UInt8]
        let source: SocketAddress
        let local: LocalEndpoint
    }

    private let loop: EventLoop
    private let loopback: UInt32

    init() throws {
        loop = try EventLoop()
        loopback = if_nametoindex("lo")
    }

    private func socket(_ address: IPAddress? = nil) throws -> DatagramSocket {
        try DatagramSocket(BoundPort.bindUDP(port: 0, address: address), on: loop)
    }

    private func port(_ socket: DatagramSocket) throws -> UInt16 {
        try #require(socket.localAddress).port
    }

    @Test(arguments: loopbacks, [false, true])
    func `reports where a datagram arrived and replies from there`(_ address: IPAddress, _ isBound: Bool) throws {
        let server = try socket()
        let client = try socket(isBound ? address : nil)
        #expect(server.localAddress?.isIPv4 == false)
        var received: [Datagram] = []
        server.onDatagram = { [unowned server] bytes, source, local in
            received.append(Datagram(bytes: bytes, source: source, local: local))
            #expect(server.send([9], to: source, from: local) == nil)
        }
        client.onDatagram = { [loop] bytes, source, local in
            received.append(Datagram(bytes: bytes, source: source, local: local))
            loop.stop()
        }
        let target = SocketAddress(address, port: try port(server))
        #expect(client.send([1, 2, 3], to: target) == nil)
        try loop.runUntilStopped()
        let local = LocalEndpoint(address: address, interface: loopback)
        #expect(
            received == [
                Datagram(bytes: [1, 2, 3], source: SocketAddress(address, port: try port(client)), local: local),
                Datagram(bytes: [9], source: target, local: local),
            ])
    }

    @Test func `replies from the address that received the request`() throws {
        // All addresses of 127.0.0.0/8 are local. By default the kernel would reply from 127.0.0.1.
        let asked = try #require(IPAddress(text: "127.9.8.7"))
        let server = try socket()
        let client = try socket()
        var answerFrom: SocketAddress?
        server.onDatagram = { [unowned server] _, source, local in
            #expect(local.address == asked)
            server.send([1], to: source, from: local)
        }
        client.onDatagram = { [loop] _, source, _ in
            answerFrom = source
            loop.stop()
        }
        client.send([1], to: SocketAddress(asked, port: try port(server)))
        try loop.runUntilStopped()
        #expect(answerFrom?.address == asked)
    }

    @Test func `an i pv4 only socket works the same way`() throws {
        let server = try socket(.anyIPv4)
        #expect(server.localAddress?.isIPv4 == true)
        var seen: Datagram?
        server.onDatagram = { [loop] bytes, source, local in
            seen = Datagram(bytes: bytes, source: source, local: local)
            loop.stop()
        }
        let client = try socket(.loopbackIPv4)
        client.send([7], to: SocketAddress(.loopbackIPv4, port: try port(server)))
        try loop.runUntilStopped()
        #expect(seen?.source == client.localAddress)
        #expect(seen?.local == LocalEndpoint(address: .loopbackIPv4, interface: loopback))
        #expect(server.send([1], to: SocketAddress(.loopbackIPv6, port: 9)) == .familyNotSupported)
    }

    @Test(arguments: [0, 1, 1_200, 65_507])
    func `any size arrives whole`(_ size: Int) throws {
        let server = try socket()
        var seen: [UInt8]?
        server.onDatagram = { [loop] bytes, _, _ in
            seen = bytes
            loop.stop()
        }
        server.send(pattern(size), to: SocketAddress(.loopbackIPv4, port: try port(server)))
        try loop.runUntilStopped()
        #expect(seen == pattern(size))
    }

    @Test func `a datagram that is too large is an error`() throws {
        let server = try socket()
        let target = SocketAddress(.loopbackIPv4, port: try port(server))
        #expect(server.send(pattern(65_508), to: target) == .messageTooLong)
    }

    @Test func `datagrams arrive in order and a closed peer has no effect on others`() throws {
        let server = try socket()
        let client = try socket()
        let gone = try socket()
        let target = SocketAddress(.loopbackIPv4, port: try port(server))
        let nobody = SocketAddress(.loopbackIPv4, port: try port(gone))
        gone.close()
        var seen: [UInt8] = []
        server.onDatagram = { [loop] bytes, _, _ in
            seen += bytes
            if seen.count == 200 { loop.stop() }
        }
        for number in 0..<200 {
            client.send([1], to: nobody)
            #expect(client.send([UInt8(number)], to: target) == nil)
        }
        try loop.runUntilStopped()
        #expect(seen == Array(0..<200))
    }

    @Test func `a flood does not starve other descriptors`() throws {
        let server = try socket()
        let ends = try Ends.sockets()
        let target = SocketAddress(.loopbackIPv4, port: try port(server))
        var count = 0
        server.onDatagram = { [unowned server] _, _, _ in
            count += 1
            // Each datagram is answered with another one, without end.
            server.send([1], to: target)
        }
        for _ in 0..<10 { server.send([1], to: target) }
        writeNow([1], to: ends.second)
        let source = try loop.watch(ends.first, .readable) { [loop] _ in loop.stop() }
        try loop.runUntilStopped()
        #expect(count <= 1_000)
        source.cancel()
        server.close()
    }

    @Test func `a closed socket neither sends nor receives`() throws {
        let server = try socket()
        let target = SocketAddress(.loopbackIPv4, port: try port(server))
        server.onDatagram = { _, _, _ in Issue.record("received after close") }
        server.send([1], to: target)
        server.close()
        try loop.runTurns(10)
        #expect(server.send([1], to: target) == Errno(rawValue: EBADF))
        #expect(server.localAddress == nil)
    }

    @Test(.enabled(if: hasIPv6, "this machine has no IPv6"))
    func `for a reply to the other family the kernel chooses the address`() throws {
        let server = try socket()
        var count = 0
        server.onDatagram = { [loop] _, _, _ in
            count += 1
            loop.stop()
        }
        let target = SocketAddress(.loopbackIPv6, port: try port(server))
        #expect(server.send([1], to: target, from: LocalEndpoint(address: .loopbackIPv4, interface: 0)) == nil)
        try loop.runUntilStopped()
        #expect(count == 1)
    }
}
