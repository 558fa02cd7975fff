import CAvahiCore
import CLinux
import Glibc
import HandoffDiscovery
import LoopIO

/// The poll functions of a discovery loop, with a gate before the sockets that libavahi-core opens: a packet that the gate
/// refuses is thrown away before the library reads it. Lives on the discovery thread.
final class GatedPoll {
    /// What the library gets: its functions find this object behind them.
    private struct Table {
        var poll: AvahiPoll
        let owner: Unmanaged<GatedPoll>
    }

    /// A watch of the library.
    private final class Watch {
        unowned let owner: GatedPoll
        let callback: AvahiWatchCallback
        let context: UnsafeMutableRawPointer?

        init(_ owner: GatedPoll, _ callback: AvahiWatchCallback, _ context: UnsafeMutableRawPointer?) {
            (self.owner, self.callback, self.context) = (owner, callback, context)
        }
    }

    /// Packets that are thrown away before the loop may do something else.
    private static let maxInTurn = 64
    /// The largest packet of multicast DNS (RFC 6762 section 17).
    private static let maxPacket = 9000
    /// Where whoever speaks multicast DNS sends from.
    private static let port = UInt16(5353)

    private let original: UnsafePointer<AvahiPoll>
    private let table: UnsafeMutablePointer<Table>
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: GatedPoll.maxPacket, alignment: 8)
    private var watches: [Watch] = []
    /// Says whether a packet is to be read; it owns this object.
    private unowned let library: AvahiServerLibrary

    /// - Parameter original: the loop's own functions, which outlive this object.
    init(_ original: UnsafePointer<AvahiPoll>, library: AvahiServerLibrary) {
        self.original = original
        self.library = library
        table = .allocate(capacity: 1)
        var poll = original.pointee
        poll.watch_new = { api, descriptor, events, callback, context in
            guard let api, let callback else { return nil }
            // The poll is the first member, so its address is the table's.
            let owner = UnsafeRawPointer(api).assumingMemoryBound(to: Table.self).pointee.owner.takeUnretainedValue()
            return owner.watch(descriptor, events, callback, context)
        }
        table.initialize(to: Table(poll: poll, owner: .passUnretained(self)))
    }

    deinit {
        table.deinitialize(count: 1)
        table.deallocate()
        buffer.deallocate()
    }

    /// What a new server gets; valid as long as this object.
    var poll: UnsafePointer<AvahiPoll> {
        // The poll is the table's first member, so both have one address.
        UnsafeRawPointer(table).assumingMemoryBound(to: AvahiPoll.self)
    }

    /// The server is freed, and all of its watches with it.
    func serverFreed() { watches = [] }

    private func watch(
        _ descriptor: Int32, _ events: AvahiWatchEvent, _ callback: @escaping AvahiWatchCallback,
        _ context: UnsafeMutableRawPointer?
    ) -> OpaquePointer? {
        guard Self.isDatagrams(descriptor) else {
            return original.pointee.watch_new(original, descriptor, events, callback, context)
        }
        let watch = Watch(self, callback, context)
        // Unretained: it is let go once the library has freed the watch with its server.
        watches.append(watch)
        return original.pointee.watch_new(
            original, descriptor, events,
            { handle, descriptor, events, context in
                guard let context else { return }
                let watch = Unmanaged<Watch>.fromOpaque(context).takeUnretainedValue()
                watch.owner.ready(watch, handle, descriptor, events)
            }, Unmanaged.passUnretained(watch).toOpaque())
    }

    private func ready(_ watch: Watch, _ handle: OpaquePointer?, _ descriptor: Int32, _ events: AvahiWatchEvent) {
        guard events == AVAHI_WATCH_IN else { return watch.callback(handle, descriptor, events, watch.context) }
        for _ in 0..<Self.maxInTurn {
            var way = clinux_datagram_way()
            let count = clinux_datagram_peek(descriptor, buffer.baseAddress, buffer.count, &way)
            guard count >= 0 else { return }
            // The library reads one packet each time.
            if let packet = library.admit(UnsafeRawBufferPointer(rebasing: buffer[..<count])) {
                watch.callback(handle, descriptor, events, watch.context)
                return tell(packet, way)
            }
            _ = recv(descriptor, buffer.baseAddress, 0, Int32(MSG_DONTWAIT))
        }
    }

    /// Has what others say taken in, by the rules for answers that the library has too (RFC 6762 sections 6 and 11).
    private func tell(_ packet: MulticastPacket, _ way: clinux_datagram_way) {
        guard packet.isResponse, way.port == Self.port, way.interface != 0 else { return }
        let bytes = withUnsafeBytes(of: way.address) { [UInt8]($0.prefix(way.is_ipv6 != 0 ? 16 : 4)) }
        guard let source = IPAddress(bytes: bytes) else { return }
        library.heard(packet, on: RecordLink(interface: way.interface, isIPv6: way.is_ipv6 != 0), from: source)
    }

    /// Whether it is a socket for packets of the network, and not the one by which the kernel tells of links.
    private static func isDatagrams(_ descriptor: Int32) -> Bool {
        var domain: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        guard getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 else { return false }
        return domain == AF_INET || domain == AF_INET6
    }
}
