import Glibc
import HandoffDiscovery
import HandoffTestSupport
import LoopIO
import Testing

/// An unknown device on the network. It repeats the records of others, and checks whether anything
/// is sent to it.
final class Trap {
    private let bound: BoundPort
    private let address: IPAddress

    /// - Parameters:
    /// - isElsewhere: whether it has an address of its own, not that of a device outside of this
    ///   network.
    /// - port: the port of that device, or 0.
    init(isElsewhere: Bool, port: UInt16 = 0) throws {
        address = isElsewhere ? try #require(IPAddress(text: "127.0.0.77")) : .loopbackIPv4
        bound = try BoundPort(port: port, address: address)
    }

    /// Returns a record as this device repeats it.
    func record(_ publication: Publication) -> DiscoveryEvent {
        .service(DiscoveredService(publication, addresses: [SocketAddress(address, port: bound.port)]))
    }

    /// Whether a datagram or a connection has arrived.
    var isHit: Bool {
        var wanted = [bound.udp.raw, bound.tcp.raw].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        return poll(&wanted, nfds_t(wanted.count), 0) > 0
    }
}
