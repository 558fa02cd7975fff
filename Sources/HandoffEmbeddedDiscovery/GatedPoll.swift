import CAvahiCore
import CLinux
import Glibc
import HandoffDiscovery
import LoopIO

/// The poll functions of a discovery loop, with a packet gate in front of the sockets that
/// libavahi-core opens. A packet that the gate rejects is discarded before the library reads it. It
/// must be used on the discovery thread.
final class GatedPoll {
    /// The table passed to the library. Its functions find this object in it.
    private struct Table {
        var poll: AvahiPoll
        let owner: Unmanaged<GatedPoll>
    }

    private final class Watch {
        unowned let owner: GatedPoll
        let callback: AvahiWatchCallback
        let context: UnsafeMutableRawPointer?

        init(_ owner: GatedPoll, _ callback: AvahiWatchCallback, _ context: UnsafeMutableRawPointer?) {
            (self.owner, self.callback, self.context) = (owner, callback, context)
        }
    }

    /// The maximum number of packets to discard before the loop may do other work.
    private static let maxInTurn = 64
    /// The maximum size of a multicast DNS packet (RFC 6762 section 17).
    private static let maxPacket = 9000
    /// The source port of multicast DNS.
    private static let port = UInt16(5353)

    private let original: UnsafePointer<AvahiPoll>
    private let table: UnsafeMutablePointer<Table>
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: GatedPoll.maxPacket, alignment: 8)
    private var watches: [Watch] = []
    /// Decides whether a packet is read. It owns this object.
    private unowned let library: AvahiServerLibrary

    /// - Parameter original: The loop's own functions, which outlive this object.
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

    /// The table for a new server, valid as long as this object.
    var poll: UnsafePointer<AvahiPoll> {
        // The poll is the table's first member, so both have one address.
        UnsafeRawPointer(table).assumingMemoryBound(to: AvahiPoll.self)
    }

    /// The server has been freed, together with all its watches.
    func serverFreed() { watches = [] }

    private func watch(
        _ descriptor: Int32, _ events: AvahiWatchEvent, _ callback: @escaping AvahiWatchCallback,
        _ context: UnsafeMutableRawPointer?
    ) -> OpaquePointer? {
        guard Self.isDatagrams(descriptor) else {
            return original.pointee.watch_new(original, descriptor, events, callback, context)
        }
        let watch = Watch(self, callback, context)
        // Unretained is safe: the watch is released only after the library has freed its handle
        // with the server.
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
            var origin = clinux_datagram_info()
            let count = clinux_datagram_peek(descriptor, buffer.baseAddress, buffer.count, &origin)
            guard count >= 0 else { return }
            // The library reads one packet per call.
            if let packet = library.admit(UnsafeRawBufferPointer(rebasing: buffer[..<count])) {
                watch.callback(handle, descriptor, events, watch.context)
                return report(packet, origin)
            }
            _ = recv(descriptor, buffer.baseAddress, 0, Int32(MSG_DONTWAIT))
        }
    }

    /// Reports a packet to the directory, under the rules for responses that libavahi-core also
    /// applies (RFC 6762 sections 6 and 11).
    private func report(_ packet: MulticastPacket, _ origin: clinux_datagram_info) {
        guard packet.isResponse, origin.port == Self.port, origin.interface != 0 else { return }
        let bytes = withUnsafeBytes(of: origin.address) { [UInt8]($0.prefix(origin.is_ipv6 != 0 ? 16 : 4)) }
        guard let source = IPAddress(bytes: bytes) else { return }
        library.received(packet, on: RecordLink(interface: origin.interface, isIPv6: origin.is_ipv6 != 0), from: source)
    }

    /// Returns whether a descriptor is a network socket, and not the socket on which the kernel
    /// reports links.
    private static func isDatagrams(_ descriptor: Int32) -> Bool {
        var domain: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        guard getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 else { return false }
        return domain == AF_INET || domain == AF_INET6
    }
}
