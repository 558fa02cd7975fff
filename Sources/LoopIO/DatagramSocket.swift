import CLinux
import Glibc

/// A bound UDP socket on an event loop. It reports the local address at which each datagram
/// arrived, and can reply from that address.
///
/// Use it on the loop's thread only.
package final class DatagramSocket {
    /// The maximum number of datagrams received per turn of the loop.
    private static let datagramsPerTurn = 64

    /// Called with the bytes of a datagram, its sender, and the local endpoint at which it arrived.
    /// No datagram exceeds 64 KiB.
    package var onDatagram: (([UInt8], SocketAddress, LocalEndpoint) -> Void)?

    private let loop: EventLoop
    private let family: Int32
    private var descriptor: Descriptor?
    private var source: EventSource?

    /// Takes ownership of a UDP socket created by `BoundPort`.
    package init(_ descriptor: consuming Descriptor, on loop: EventLoop) throws(Errno) {
        let raw = descriptor.raw
        self.loop = loop
        family = try SocketFamily.of(raw)
        self.descriptor = consume descriptor
        source = try loop.watch(raw, .readable) { [weak self] _ in self?.receive() }
    }

    deinit {
        // Before the descriptor closes with its property.
        source?.cancel()
    }

    /// The address that the socket is bound to.
    var localAddress: SocketAddress? {
        guard let raw = rawDescriptor else { return nil }
        return try? SocketAddress.local(of: raw)  // Cannot fail for a bound socket.
    }

    /// Sends one datagram. It is lost if the kernel does not accept it now.
    /// - Parameters:
    ///   - address: the receiver.
    ///   - local: the source address and interface, so that a firewall on the path recognises a
    ///     reply; nil lets the kernel choose.
    /// - Returns: the error, or nil if it was sent.
    @discardableResult
    package func send(_ bytes: [UInt8], to address: SocketAddress, from local: LocalEndpoint? = nil) -> Errno? {
        loop.assertOwned()
        guard let raw = rawDescriptor else { return Errno(rawValue: EBADF) }
        guard address.isIPv4 || family == AF_INET6 else { return .familyNotSupported }
        var source = local?.local(forIPv4: address.isIPv4) ?? clinux_local()
        return address.withSockaddr(family: family) { pointer, length in
            do throws(Errno) {
                try SystemCall.retrying { clinux_send(raw, bytes, bytes.count, pointer, length, &source) }
                return nil
            } catch {
                return error
            }
        }
    }

    /// Closes the socket. No datagram is delivered afterwards.
    package func close() {
        source?.cancel()
        source = nil
        descriptor = nil
        onDatagram = nil
    }

    private var rawDescriptor: Int32? {
        descriptor?.raw
    }

    private func receive() {
        for _ in 0..<Self.datagramsPerTurn {
            guard let raw = rawDescriptor else { return }
            var storage = sockaddr_storage()
            var length = UInt32(MemoryLayout<sockaddr_storage>.size)
            var local = clinux_local()
            let count = clinux_receive(raw, loop.scratch.baseAddress, loop.scratch.count, &storage, &length, &local)
            guard count >= 0 else {
                // EWOULDBLOCK ends the turn. Any other error was caused by an earlier datagram
                // (SO_ERROR). This call clears it, and the event is reported again if more
                // datagrams are waiting.
                return
            }
            guard count <= loop.scratch.count, let address = SocketAddress(storage: storage, length: length) else {
                continue
            }
            let bytes = Array(UnsafeRawBufferPointer(rebasing: loop.scratch[..<count]))
            onDatagram?(bytes, address, LocalEndpoint(local))
        }
    }
}
