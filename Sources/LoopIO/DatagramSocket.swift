import CLinux
import Glibc

/// A bound UDP socket on a loop that knows at which of our addresses a datagram arrived and can answer from there.
///
/// Used on the loop's thread only.
package final class DatagramSocket {
    /// One turn of the loop takes at most this many datagrams, then looks at other descriptors.
    private static let datagramsPerTurn = 64

    /// A datagram: its bytes, where it came from, and where it arrived. Those larger than 64 KiB do not exist.
    package var onDatagram: (([UInt8], SocketAddress, LocalEndpoint) -> Void)?

    private let loop: EventLoop
    private let family: Int32
    private var descriptor: Descriptor?
    private var source: EventSource?

    /// Takes over a UDP socket that `BoundPort` has made.
    package init(_ descriptor: consuming Descriptor, on loop: EventLoop) throws(Errno) {
        let raw = descriptor.raw
        self.loop = loop
        family = try SocketFamily.of(raw)
        self.descriptor = consume descriptor
        source = try loop.watch(raw, .readable) { [weak self] _ in self?.receive() }
    }

    deinit {
        // Before the descriptor, which closes with its property.
        source?.cancel()
    }

    /// The address that it is bound to.
    package var localAddress: SocketAddress? {
        guard let raw = rawDescriptor else { return nil }
        return try? SocketAddress.local(of: raw)  // Cannot fail for a bound socket.
    }

    /// Sends one datagram, or none: what the kernel does not take now is lost, as datagrams may be.
    /// - Parameters:
    ///   - address: to whom.
    ///   - local: from which address and interface, so that a firewall on the way sees an answer; nil: the kernel chooses.
    /// - Returns: why it was not sent, or nil.
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

    /// Closes it; no datagram is handed over any more.
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
                // Would-block ends the turn. Another error is one that an earlier datagram has caused (SO_ERROR); it is
                // used up by this call, and the state is reported again when there is more.
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
