import Glibc
import LoopIO
import Testing

/// Serialised because the tests compete for ports.
@Suite(.serialized, .timeLimit(.minutes(5))) struct BoundPortTests {
    private func option(_ descriptor: Int32, _ level: Int32, _ name: Int32) -> Int32 {
        var value: Int32 = -1
        var size = socklen_t(4)
        getsockopt(descriptor, level, name, &value, &size)
        return value
    }

    @Test func `both protocols get the same port`() throws {
        let port = try BoundPort(port: 0)
        #expect(port.port != 0)
        #expect(try SocketAddress.local(of: port.tcp.raw).port == port.port)
        #expect(try SocketAddress.local(of: port.udp.raw).port == port.port)
        #expect(option(port.tcp.raw, SOL_SOCKET, SO_ACCEPTCONN) == 1)
        #expect(option(port.udp.raw, SOL_SOCKET, SO_TYPE) == Int32(SOCK_DGRAM.rawValue))
        #expect(option(port.udp.raw, SOL_SOCKET, SO_REUSEADDR) == 0)
        #expect(option(port.udp.raw, SOL_SOCKET, SO_REUSEPORT) == 0)
    }

    @Test func `an address that this machine does not have yet can be bound`() throws {
        for text in ["192.0.2.77"] + (loopbacks.contains(.loopbackIPv6) ? ["2001:db8::77"] : []) {
            let address = try #require(IPAddress(text: text))
            #expect(try BoundPort(port: 0, address: address).port != 0)
        }
    }

    @Test func `a taken port is an error`() throws {
        let port = try BoundPort(port: 0)
        let number = port.port
        #expect(throws: Errno.addressInUse) { _ = try BoundPort(port: number) }
        #expect(throws: Errno.addressInUse) { _ = try BoundPort(port: number, address: .loopbackIPv4) }
        port.udp.close()
    }

    @Test func `a port that is taken for one protocol counts as taken`() throws {
        // Below the range that the kernel assigns, and outside the range of the test below.
        let number: UInt16 = 21_350
        for address in [.anyIPv4] + loopbacks {
            let kept = try BoundPort.bindUDP(port: number, address: address)
            #expect(throws: Errno.addressInUse) { _ = try BoundPort(port: number) }
            kept.close()
            let tcp = try BoundPort.bindTCP(port: number, address: address)
            #expect(throws: Errno.addressInUse) { _ = try BoundPort(port: number) }
            tcp.close()
            // The failed attempts have not left a socket open.
            let again = try BoundPort(port: number)
            #expect(again.port == number)
        }
    }

    @Test func `takes the first pair that is free, otherwise any`() throws {
        // A range that other tests and programs do not use: below the range that the kernel
        // assigns.
        let range: ClosedRange<UInt16> = 21_347...21_349
        let first = try BoundPort(firstFreeOf: range)
        #expect(first.port == 21_347)
        // The next pair has its UDP port taken.
        let blocker = try BoundPort.bindUDP(port: 21_348)
        let second = try BoundPort(firstFreeOf: range)
        #expect(second.port == 21_349)
        let third = try BoundPort(firstFreeOf: range)
        #expect(!range.contains(third.port))
        blocker.close()
        let fourth = try BoundPort(firstFreeOf: range)
        #expect(fourth.port == 21_348)
    }

    @Test func `the default ports are those of the firewall files`() {
        #expect(BoundPort.defaultPorts == 24_863...24_872)
    }

    @Test(arguments: loopbacks)
    func `binds only the given address`(_ address: IPAddress) throws {
        let port = try BoundPort(port: 0, address: address)
        #expect(try SocketAddress.local(of: port.tcp.raw).address == address)
        #expect(try SocketAddress.local(of: port.udp.raw).address == address)
    }
}
