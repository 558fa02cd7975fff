import Glibc
import HandoffDiscovery
import HandoffTestSupport
import LoopIO
import Testing

/// An unknown device on the network: it repeats the records of others and notes whether anything is sent to it.
final class Trap {
    private let bound: BoundPort

    /// - Parameter port: the port of a device that is not on this network, or 0.
    init(port: UInt16 = 0) throws {
        bound = try BoundPort(port: port, address: .loopbackIPv4)
    }

    var port: UInt16 { bound.port }

    /// A record as this device repeats it, with an address of its own or with the one that the record's device had.
    func record(_ publication: Publication, atOwnAddress: Bool) -> DiscoveryEvent {
        let address = atOwnAddress ? IPAddress(text: "127.0.0.77") : .loopbackIPv4
        return .service(
            DiscoveredService(publication, addresses: address.map { [SocketAddress($0, port: port)] } ?? []))
    }

    /// Whether a datagram or a connection has arrived.
    var isHit: Bool {
        var wanted = [bound.udp.raw, bound.tcp.raw].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        return poll(&wanted, nfds_t(wanted.count), 0) > 0
    }
}
